#include "file/messages.hpp"
#include "os/folders.hpp"
#include "os/processes.hpp"
#include "package/impl.hpp"

#include <cameo/file/atomic_file.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>

// Writes a package so that a crash at any moment leaves the old or the new one: files that the package on disk names
// are not changed until one file is replaced atomically. New folders and changed component files get unused names, and
// the manifest is replaced last. If a single component file is all that changes, that file is replaced.

namespace CAMEO_NAMESPACE {
namespace {

namespace fs = std::filesystem;

os::file_kind kind_at(const std::string& path) {
  const result<os::file_facts> facts = os::facts_at({}, path, os::last_link::kept);
  return facts ? facts->kind : os::file_kind::nothing;
}

bool is_there(const std::string& path) { return kind_at(path) != os::file_kind::nothing; }

/// A folder that is built beside its destination. It is removed on destruction unless move_to() has moved it.
class temporary_folder {
 public:
  explicit temporary_folder(std::string path) : path_{std::move(path)} {}
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    if (!path_.empty())
      static_cast<void>(guarded([&]() -> status {  // listing the folder may run out of memory
        std::error_code ignored;
        fs::remove_all(path_, ignored);
        return {};
      }));
  }
  const std::string& path() const { return path_; }
  /// Moves the folder to its destination. It fails if something other than an empty folder exists there.
  status move_to(const std::string& place) {
    if (status s = os::move_folder(path_, place); !s)
      return system_error(place, "the folder that was written cannot be moved there", s);
    path_.clear();
    os::flush_folder(std::string{parent_of(place)});
    return {};
  }

 private:
  std::string path_;
};

/// A temporary name, which `prune` recognizes: ".name.1234.0.tmp".
std::string temporary_name(const std::string& folder, std::string_view name) {
  // The counter begins with the time, because processes of other machines or containers may have the same id.
  static std::atomic<std::uint64_t> number{std::uint64_t(std::chrono::system_clock::now().time_since_epoch().count())};
  return fmt::format("{}/.{}.{}.{}.tmp", folder, name, os::process_number(), number++);
}

std::string as_file(const json& value) { return dump(value, 2) + "\n"; }

class writer {
 public:
  writer(package::impl& of, std::string root) : package_{of}, root_{std::move(root)} {}

  status place_staged() {
    for (const staged_files& each : package_.staged)
      if (status s = each.asset.empty() ? place_variant(each) : place_asset(each); !s) return s;
    return {};
  }

  /// Moves all components from their files into the manifest. The folders of their variants stay.
  void move_into_manifest() {
    for (package_component& c : package_.components) {
      if (!c.file) continue;
      package_.superseded.push_back(*c.file);
      c.file.reset();
      package_.manifest_changed = true;
    }
    package_.changed.clear();
  }

  /// Creates the folders of new components.
  status make_folders() {
    for (const package_component& c : package_.components) {
      const std::string folder = root_ + "/" + c.base;
      if (c.file && !c.base.empty() && !c.base.starts_with('/') && package_.changed.count(c.name) && !is_there(folder))
        if (status s = make_new_folder(folder); !s) return s;
    }
    return {};
  }

  status write_texts() {
    if (!package_.manifest_changed && package_.changed.size() == 1) {
      const package_component* const c = package_.find(*package_.changed.begin());
      return write_file_atomically(root_ + "/" + *c->file, as_file(to_json(*c, false)));
    }
    for (package_component& c : package_.components)
      if (c.file && package_.changed.count(c.name)) {
        const std::string fresh = free_file(parent_of(*c.file));
        if (status s = write_file_atomically(root_ + "/" + fresh, as_file(to_json(c, false))); !s) return s;
        if (fresh != *c.file) package_.superseded.push_back(*c.file);
        c.file = fresh;
        package_.manifest_changed = true;
      }
    if (!package_.manifest_changed) return {};
    return write_file_atomically(root_ + "/" + std::string{manifest_file}, as_file(to_json(package_)));
  }

 private:
  std::string free_file(std::string_view folder) const {
    std::string path = joined(folder, component_file);
    for (int i = 2; is_there(root_ + "/" + path); ++i) path = joined(folder, fmt::format("component-{}.json", i));
    return path;
  }

  /// The case-folded names in a folder. They are read once, and updated as names are added.
  std::set<std::string>& taken_in(const std::string& folder) {
    const auto [at, is_new] = taken_.try_emplace(folder);
    if (!is_new) return at->second;
    if (const result<detail::held_folder> opened = detail::held_folder::open(folder))
      if (const result<std::vector<std::string>> names = names_in(opened->handle()))
        for (const std::string& each : *names) at->second.insert(without_case(each));
    return at->second;
  }

  status place_variant(const staged_files& staged) {
    package_component& c = *package_.find(staged.component);
    const auto v = std::find_if(c.variants.begin(), c.variants.end(),
                                [&](const package_variant& each) { return each.name == staged.variant; });
    const std::string base = c.base.empty() ? root_ : root_ + "/" + c.base;
    std::set<std::string>& taken = taken_in(base);
    const std::string name = free_name(v->name, taken);
    if (status s = copy(staged.source, base, name); !s) return s;
    taken.insert(without_case(name));
    v->directory = name == v->name ? std::nullopt : std::optional{name};
    v->folder = joined(c.base, name);
    return {};
  }

  status copy(const std::string& from, const std::string& base, const std::string& name) {
    const result<detail::held_folder> source = detail::held_folder::open(from);
    if (!source) return status{source.error()};
    temporary_folder made{temporary_name(base, name)};
    if (status s = copy_tree(*source, {}, made.path(), [](const std::string&) { return false; }); !s) return s;
    return made.move_to(base + "/" + name);
  }

  status place_asset(const staged_files& staged) {
    const std::string base = root_ + "/" + std::string{assets_folder};
    const std::string name = "sha256-" + staged.asset.substr(7);
    if (is_there(base + "/" + name)) return {};
    if (const result<bool> s = os::make_folder(base); !s) return system_error(base, "cannot be made", s.error());
    const result<detail::held_folder> source = detail::held_folder::open(staged.source);
    if (!source) return status{source.error()};
    temporary_folder made{temporary_name(base, name)};
    if (status s = copy_tree(*source, {}, made.path(), [](const std::string&) { return false; }); !s) return s;
    const result<std::string> hash = hash_folder(made.path());
    if (!hash || *hash != staged.asset)
      return failed(status_code::fail, "the files in '{}' are no longer those of {}", staged.source, staged.asset);
    return made.move_to(base + "/" + name);
  }

  package::impl& package_;
  std::string root_;
  std::map<std::string, std::set<std::string>> taken_;
};

/// Replaces the package by the result of reading what was written.
status read_back(package::impl& to, const std::string& folder) {
  std::vector<package_problem> problems;
  package_open_options options = to.options;
  options.verify_assets = false;
  auto made = read_folder(folder, options, {}, problems, to.lock);
  if (!made) return std::move(made).error().in("the package that was written cannot be read");
  (*made)->superseded = std::move(to.superseded);
  (*made)->options = to.options;
  to = std::move(**made);
  return {};
}

void remove_files(const std::string& root, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const std::string whole = root + "/" + path;
    if (kind_at(whole) == os::file_kind::file) static_cast<void>(os::remove_name({}, whole));
  }
}

/// True for paths that a copy of the package omits: files that are written again, and files that it no longer names.
bool is_left_out(const package::impl& p, const std::string& path) {
  if (path == manifest_file || path == folder_lock_file || (path.starts_with('.') && path.ends_with(".tmp")))
    return true;
  for (const package_component& c : p.components)
    if (c.file == path) return true;
  return std::find(p.superseded.begin(), p.superseded.end(), path) != p.superseded.end() ||
         (p.layout != package_layout::schema_1 && path.starts_with("models/") && path.ends_with("/metadata.json"));
}

/// Writes the package to a temporary folder, checks that it can be opened, and moves it to `to`.
status write_new(package::impl next, const std::string& to, package_form form) {
  const std::string parent = std::string{parent_of(to)};
  temporary_folder made{temporary_name(to.find('/') == to.npos ? "." : parent, fs::path{to}.filename().string())};
  if (next.root) {
    const auto skips = [&](const std::string& path) { return is_left_out(next, path); };
    if (status s = copy_tree(*next.root, {}, made.path(), skips); !s) return s;
  } else if (status s = make_new_folder(made.path()); !s) {
    return s;
  }
  writer into{next, made.path()};
  if (status s = into.make_folders(); !s) return s;
  if (status s = into.place_staged(); !s) return s;
  if (form == package_form::dense) into.move_into_manifest();
  for (const package_component& c : next.components)
    if (c.file)
      if (status s = write_file_atomically(made.path() + "/" + *c.file, as_file(to_json(c, false))); !s) return s;
  next.changed.clear();
  next.manifest_changed = true;
  if (status s = into.write_texts(); !s) return s;
  std::vector<package_problem> problems;
  if (const auto read = read_folder(made.path(), next.options, {}, problems); !read)
    return failed(status_code::fail, "the package could not be opened at '{}': {}", to,
                  problems.empty() ? std::string{} : problems.front().text());
  return made.move_to(to);
}

}  // namespace

status package::commit(package_form form) {
  return guarded([&]() -> status {
    if (!impl_->root)
      return status{status_code::invalid_argument, "the package has no folder yet: write it with save_as"};
    const bool is_older = impl_->layout != package_layout::schema_1;
    const bool moves = form == package_form::dense && std::any_of(impl_->components.begin(), impl_->components.end(),
                                                                  [](const auto& c) { return c.file.has_value(); });
    if (!impl_->is_edited() && !is_older && !moves) return {};
    const auto lock = impl_->locked();
    if (!lock) return status{lock.error()};
    auto merged = impl_->merged();
    if (!merged) return std::move(merged).error();
    impl& next = **merged;
    next.manifest_changed |= is_older;
    const std::string root = next.root_path();
    writer into{next, root};
    if (status s = into.make_folders(); !s) return s;
    if (status s = into.place_staged(); !s) return s;
    if (form == package_form::dense) into.move_into_manifest();
    if (status s = into.write_texts(); !s) return s;
    remove_files(root, next.superseded);
    if (status s = read_back(next, next.folder); !s) return s;
    *impl_ = std::move(next);
    return {};
  });
}

status package::save_as(const std::string& to, package_form form) {
  return guarded([&]() -> status {
    std::error_code error;
    std::string place = fs::path{to}.lexically_normal().string();
    while (place.size() > 1 && place.ends_with('/')) place.pop_back();
    if (place.empty() || place == "." || place == "/")
      return status{status_code::invalid_argument, "save_as needs the name of a folder"};
    if (is_there(place) && !(fs::is_directory(fs::symlink_status(place, error)) && fs::is_empty(place, error)))
      return failed(status_code::fail, "{}: is not empty; a package is saved to an empty folder, or to a new one", to);
    if (status s = write_new(*impl_, place, form); !s) return s;
    impl next;
    next.options = impl_->options;
    if (status s = read_back(next, place); !s) return s;
    next.superseded.clear();
    *impl_ = std::move(next);
    return {};
  });
}

}  // namespace CAMEO_NAMESPACE
