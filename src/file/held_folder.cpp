#include "held_folder.hpp"

#include "messages.hpp"

#include "os/folders.hpp"

#include <algorithm>
#include <vector>

namespace CAMEO_NAMESPACE {
namespace {

/// The greatest length in bytes of the part of a path, with the targets of links, that is still to be followed.
constexpr std::size_t longest_rest = 8192;

found_path erroneous(path_error error, std::string why) {
  found_path made;
  made.error = error;
  made.why = std::move(why);
  return made;
}

/// The result for a file that could not be opened: nothing found, or an error of the system.
found_path not_opened(const status& error) {
  if (error.code() == status_code::no_suchfile) return {};
  if (error.code() == status_code::out_of_memory) throw std::bad_alloc{};
  return erroneous(path_error::system, fmt::format("cannot be opened ({})", error.words()));
}

found_path with_facts(result<os::handle> opened) {
  if (!opened) return not_opened(opened.error());
  const result<os::file_facts> facts = os::facts_of(*opened);
  if (!facts) return not_opened(facts.error());
  found_path made;
  made.kind = facts->kind;
  made.id = facts->id;
  made.handle = *std::move(opened);
  return made;
}

os::access access_for(open_for use) { return use == open_for::place ? os::access::place : os::access::reading; }

found_path parent_of(const os::handle& folder) { return with_facts(os::open_folder(folder, "..", os::access::place)); }

/// True if the predicate holds for a folder that contains this one.
template <class Counts>
bool is_below(const os::handle& folder, Counts counts) {
  found_path at = parent_of(folder);
  for (detail::file_id below; at.handle && at.id != below;) {
    if (counts(at.id)) return true;
    below = at.id;
    at = parent_of(at.handle);
  }
  return false;
}

/// Follows a path part by part, and opens every folder on the way, so that the check whether the path stays inside uses
/// the identities of open folders, which can't be replaced, and not their names.
class walker {
 public:
  walker(const os::handle& start, const detail::file_id& id, std::span<const detail::file_id> also)
      : start_{start}, inside_{id}, also_{also} {}

  found_path walk(std::string_view location, open_for use) {
    if (!restart(with_facts(os::duplicate(start_)))) return std::move(failure_);
    pending_ = location;
    while (true) {
      const std::string part = next_part();
      if (part.empty()) return last_folder(use);
      if (part == ".") continue;
      if (part == "..") {
        if (!go_up()) return std::move(failure_);
        continue;
      }
      found_path next = with_facts(os::open(top(), part, os::access::place, os::last_link::kept));
      if (!next.handle) return ended(std::move(next));
      if (next.kind == os::file_kind::link) {
        if (!follow_link(next.handle)) return ended(std::move(failure_));
        continue;
      }
      if (next.kind == os::file_kind::folder) {
        way_.push_back({std::move(next.handle), next.id});
        continue;
      }
      if (!rest_is_empty()) return ended({});  // a file contains no files
      return ended(reopened(std::move(next), part, use));
    }
  }

 private:
  struct step {
    os::handle handle;
    detail::file_id id;
  };

  const os::handle& top() const { return way_.back().handle; }

  bool restart(found_path at) {
    if (!at.handle) return failure_ = std::move(at), false;
    way_.clear();
    way_.push_back({std::move(at.handle), at.id});
    return true;
  }

  bool go_up() {
    if (way_.size() > 1) return way_.pop_back(), true;
    return restart(parent_of(top()));
  }

  std::string next_part() {
    pending_.erase(0, std::min(pending_.find_first_not_of('/'), pending_.size()));
    const std::size_t end = std::min(pending_.find('/'), pending_.size());
    std::string part = pending_.substr(0, end);
    pending_.erase(0, end);
    return part;
  }

  /// True if no part follows, and no slash, which would require a folder.
  bool rest_is_empty() const { return pending_.empty(); }

  /// Puts the target of a link in front of the rest of the path.
  bool follow_link(const os::handle& link) {
    const result<std::string> target = os::read_link(link, "");
    if (!target) return failure_ = not_opened(target.error()), false;
    if (++links_ > most_links || target->size() + pending_.size() > longest_rest)
      return failure_ = not_opened(os::too_many_links()), false;
    pending_.insert(0, *target);
    return !target->starts_with('/') || restart(with_facts(os::open_folder({}, "/", os::access::place)));
  }

  bool is_inside() const {
    const auto counts = [&](const detail::file_id& id) {
      return id == inside_ || std::find(also_.begin(), also_.end(), id) != also_.end();
    };
    if (std::any_of(way_.begin(), way_.end(), [&](const step& s) { return counts(s.id); })) return true;
    return !also_.empty() && is_below(way_.front().handle, counts);
  }

  found_path ended(found_path with) const {
    if (is_inside() || with.error != path_error::none) return with;
    return erroneous(path_error::outside, "leads out of the folder through a symbolic link");
  }

  /// Opens a file that was found again, for reading, and checks that the name still leads to the same file.
  found_path reopened(found_path found, const std::string& name, open_for use) const {
    if (use == open_for::place || found.kind != os::file_kind::file) return found;
    found_path again = with_facts(os::open(top(), name, access_for(use), os::last_link::kept));
    if (!again.handle) return again;
    if (again.id != found.id) return erroneous(path_error::outside, "became another file while it was opened");
    return again;
  }

  found_path last_folder(open_for use) {
    if (!is_inside()) return ended({});
    if (use == open_for::place) return with_facts(std::move(way_.back().handle));
    return with_facts(os::open_folder(top(), ".", access_for(use)));
  }

  const os::handle& start_;
  detail::file_id inside_;
  std::span<const detail::file_id> also_;
  std::vector<step>
      way_;  // the open folders from the start, or from an absolute link or an outer folder, to the present
  std::string pending_;
  found_path failure_;
  int links_ = 0;
};

}  // namespace

result<detail::held_folder> detail::held_folder::open(const std::string& path) try {
  const std::string named = path.empty() ? "." : path;
  result<os::handle> opened = os::open_folder({}, named);
  if (!opened) return std::move(opened).error().in(fmt::format("folder '{}'", named));
  found_path at = with_facts(std::move(opened));
  if (!at.handle) return failed(status_code::fail, "folder '{}': {}", named, at.why);
  return detail::held_folder{named, std::move(at.handle), at.id};
} catch (const std::bad_alloc&) {
  return status_code::out_of_memory;
}

detail::held_folder detail::held_folder::opened(found_path found, std::string path) {
  return {std::move(path), std::move(found.handle), found.id};
}

found_path detail::held_folder::find(const path_rule& rule, std::string_view location, open_for use,
                                     std::span<const file_id> also, follow how) const {
  if (const std::string_view why = malformed(rule, location); !why.empty())
    return erroneous(path_error::malformed, std::string{why});
  const std::string text{location};
  if (rule.anywhere) return with_facts(os::open(handle_, text, access_for(use)));
  if (how == follow::kernel) {
    result<os::handle> opened = os::open_beneath(handle_, text, access_for(use));
    if (opened) return with_facts(std::move(opened));
    if (opened.error().code() == status_code::no_suchfile) return {};
  }
  return walker{handle_, id_, also}.walk(text, use);
}

}  // namespace CAMEO_NAMESPACE
