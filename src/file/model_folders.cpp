#include "file/model_folders.hpp"

#include "os/folders.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

namespace CAMEO_NAMESPACE {
namespace {

using shared_folder = std::shared_ptr<const detail::held_folder>;

/// A folder in which a tool stores every file in a separate folder, named by a hash of the file or of its build. Users
/// have links into it, so that the targets of links in one folder are in different folders.
struct file_store {
  std::string_view tool, path_end;
};
constexpr file_store file_stores[] = {
    {"git-annex", "/annex/objects"},         {"Nix", "/nix/store"}, {"Guix", "/gnu/store"}, {"DVC", "/files/md5"},
    {"DVC before version 3", "/.dvc/cache"},
};

/// Opens a folder by a path relative to another one; null if it can't be opened.
shared_folder open_from(const os::handle& folder, const std::string& path) {
  result<os::handle> opened = os::open_folder(folder, path);
  if (!opened) return {};
  const result<os::file_facts> facts = os::facts_of(*opened);
  if (!facts) return {};
  found_path at;
  at.id = facts->id;
  at.handle = *std::move(opened);
  std::string name = os::real_path(at.handle);
  return std::make_shared<const detail::held_folder>(
      detail::held_folder::opened(std::move(at), name.empty() ? path : std::move(name)));
}

/// The folders that contain a path and the targets of its chain of links, in order, up to the folder of `file`. Empty
/// if the chain does not end at that file (any more).
std::vector<shared_folder> folders_to(const std::string& path, const detail::file_id& file) {
  const os::handle current;
  std::vector<shared_folder> passed;
  std::string rest = path;
  for (int links = 0; links <= most_links; ++links) {
    const std::size_t name_at = rest.rfind('/') + 1;
    const std::string name = rest.substr(name_at), folder = name_at == 0 ? "." : rest.substr(0, name_at);
    shared_folder next = open_from(passed.empty() ? current : passed.back()->handle(), folder);
    if (!next) return {};
    const result<os::file_facts> facts = os::facts_at(next->handle(), name, os::last_link::kept);
    if (!facts) return {};
    passed.push_back(std::move(next));
    if (facts->kind != os::file_kind::link) return facts->id == file ? passed : std::vector<shared_folder>{};
    const result<std::string> target = os::read_link(passed.back()->handle(), name);
    if (!target || target->empty()) return {};
    rest = *target;
  }
  return {};
}

/// The innermost store that contains a folder; nullopt if there is none.
std::optional<detail::file_id> store_around(const detail::held_folder& folder) {
  result<os::handle> at = os::open_folder(folder.handle(), ".", os::access::place);
  while (at) {
    const std::string path = os::real_path(*at);
    if (path.size() <= 1) break;
    const auto is_one = [&](const file_store& each) { return path.ends_with(each.path_end); };
    if (std::any_of(std::begin(file_stores), std::end(file_stores), is_one))
      if (const result<os::file_facts> facts = os::facts_of(*at)) return facts->id;
    at = os::open_folder(*at, "..", os::access::place);
  }
  return {};
}

}  // namespace

void model_folders::admit_places_of(const detail::file_bytes& model, folder_search search) {
  const std::vector<shared_folder> passed = folders_to(model.path(), model.id());
  if (passed.empty()) return;
  // If the model's path is not a link, its folder is not admitted: the caller's folder is used in its place.
  const bool is_elsewhere = search == folder_search::first && passed.size() == 1;
  admitted_.push_back(searched_.front()->id());
  for (const shared_folder& each : passed) {
    if (is_elsewhere || std::find(admitted_.begin(), admitted_.end(), each->id()) != admitted_.end()) continue;
    admitted_.push_back(each->id());
    if (search == folder_search::all) searched_.push_back(each);
  }
  if (const auto store = store_around(*passed.back())) admitted_.push_back(*store);
}

result<model_folders> model_folders::open(const std::string& folder, const detail::file_bytes* model,
                                          folder_search search) try {
  result<detail::held_folder> first = detail::held_folder::open(folder);
  if (!first) return std::move(first).error();
  model_folders made{std::make_shared<const detail::held_folder>(*std::move(first))};
  if (model) made.admit_places_of(*model, search);
  return made;
} catch (const std::bad_alloc&) {
  return status_code::out_of_memory;
}

result<found_path> model_folders::file(const path_rule& rule, std::string_view location, std::string_view whose,
                                       open_for use) const try {
  found_path at;
  for (const shared_folder& each : searched_) {
    at = each->find(rule, location, use, admitted_);
    if (at.error != path_error::none || at.kind != os::file_kind::nothing) break;
  }
  if (status s = searched_.front()->refused(rule, at, location, whose); !s) return s;
  return at;
} catch (const std::bad_alloc&) {
  return status_code::out_of_memory;
}

result<std::shared_ptr<const detail::file_bytes>> model_folders::map(const path_rule& rule, std::string_view location,
                                                                     std::string_view whose) const try {
  const result<found_path> at = file(rule, location, whose, open_for::reading);
  if (!at) return status{at.error()};
  return detail::map_found(rule, *at, path_of(*at, location), whose);
} catch (const std::bad_alloc&) {
  return status_code::out_of_memory;
}

}  // namespace CAMEO_NAMESPACE
