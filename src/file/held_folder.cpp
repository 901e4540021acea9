#include "held_folder.hpp"

#include "messages.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

CAMEO_BEGIN_NAMESPACE
namespace {

found_kind kind_of(const struct stat& facts) {
  return S_ISREG(facts.st_mode) ? found_kind::file : S_ISDIR(facts.st_mode) ? found_kind::folder : found_kind::other;
}
detail::file_id id_of(const struct stat& facts) { return {facts.st_dev, facts.st_ino}; }

found_path troubled(path_trouble trouble, std::string why) {
  found_path made;
  made.trouble = trouble;
  made.why = std::move(why);
  return made;
}

/// What an open that failed means: nothing there, or trouble.
found_path not_opened(int error) {
  if (error == ENOENT || error == ENOTDIR) return {};
  if (error == ENOMEM) throw std::bad_alloc{};
  return troubled(path_trouble::system, fmt::format("cannot be opened ({})", std::strerror(error)));
}

/// Right after a call that opens: errno tells why there is no handle.
found_path with_facts(detail::descriptor handle) {
  struct stat facts{};
  if (!handle || ::fstat(*handle, &facts) != 0) return not_opened(errno);
  found_path made;
  made.kind = kind_of(facts);
  made.id = id_of(facts);
  made.handle = std::move(handle);
  return made;
}

int flags_for(open_for use) {
  // Opening a pipe must not wait for its writer; for a regular file O_NONBLOCK means nothing.
  return O_CLOEXEC | (use == open_for::place ? O_PATH : O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

/// The system follows the path and its links as long as they stay below the folder; where it refuses, or does not know
/// the call, the walk finds out why.
detail::descriptor open_beneath(int folder, const char* location, open_for use) {
  struct open_how how{};
  how.flags = std::uint64_t(flags_for(use));
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return detail::descriptor{int(::syscall(SYS_openat2, folder, location, &how, sizeof how))};
}

/// True if a folder around this one counts.
template <class Counts>
bool is_below(int folder, Counts counts) {
  found_path at = with_facts(detail::descriptor{::openat(folder, "..", O_PATH | O_DIRECTORY | O_CLOEXEC)});
  for (detail::file_id below; at.handle && at.id != below;) {
    if (counts(at.id)) return true;
    below = at.id;
    at = with_facts(detail::descriptor{::openat(*at.handle, "..", O_PATH | O_DIRECTORY | O_CLOEXEC)});
  }
  return false;
}

/// Follows a path by hand, one part after the other and never two at once, so that every folder on the way is known
/// and held: whether the way ends inside is asked of the folders, not of names.
class walker {
 public:
  walker(int start, const detail::file_id& id, std::span<const detail::file_id> also)
      : start_{start}, inside_{id}, also_{also} {}

  found_path walk(std::string_view location, open_for use) {
    if (!restart(::fcntl(start_, F_DUPFD_CLOEXEC, 0))) return std::move(failure_);
    pending_ = location;
    while (true) {
      const std::string part = next_part();
      if (part.empty()) return last_folder(use);
      if (part == ".") continue;
      if (part == "..") {
        if (!go_up()) return std::move(failure_);
        continue;
      }
      found_path next = with_facts(detail::descriptor{::openat(top(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)});
      if (!next.handle) return ended(std::move(next));
      if (next.kind == found_kind::other && is_link(next.handle)) {
        if (!follow_link(next.handle)) return ended(std::move(failure_));
        continue;
      }
      if (next.kind == found_kind::folder) {
        way_.push_back({std::move(next.handle), next.id});
        continue;
      }
      if (!rest_is_empty()) return ended({});  // a file is no folder
      return ended(reopened(std::move(next), part, use));
    }
  }

 private:
  struct step {
    detail::descriptor handle;
    detail::file_id id;
  };

  int top() const { return *way_.back().handle; }

  bool restart(int opened) {
    found_path at = with_facts(detail::descriptor{opened});
    if (!at.handle) return failure_ = std::move(at), false;
    way_.clear();
    way_.push_back({std::move(at.handle), at.id});
    return true;
  }

  bool go_up() {
    if (way_.size() > 1) return way_.pop_back(), true;
    return restart(::openat(top(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }

  std::string next_part() {
    pending_.erase(0, std::min(pending_.find_first_not_of('/'), pending_.size()));
    const std::size_t end = std::min(pending_.find('/'), pending_.size());
    std::string part = pending_.substr(0, end);
    pending_.erase(0, end);
    return part;
  }

  /// A slash at the end asks for a folder.
  bool rest_is_empty() const { return pending_.empty(); }

  static bool is_link(const detail::descriptor& opened) {
    struct stat facts{};
    return ::fstat(*opened, &facts) == 0 && S_ISLNK(facts.st_mode);
  }

  /// Its text is now what there is to follow.
  bool follow_link(const detail::descriptor& link) {
    char target[PATH_MAX + 1];
    const ssize_t length = ::readlinkat(*link, "", target, sizeof target);
    if (length < 0) return failure_ = not_opened(errno), false;
    if (++links_ > most_links || std::size_t(length) + pending_.size() > 2 * PATH_MAX)
      return failure_ = not_opened(ELOOP), false;
    pending_.insert(0, target, std::size_t(length));
    return length == 0 || target[0] != '/' || restart(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }

  bool is_inside() const {
    const auto counts = [&](const detail::file_id& id) {
      return id == inside_ || std::find(also_.begin(), also_.end(), id) != also_.end();
    };
    if (std::any_of(way_.begin(), way_.end(), [&](const step& s) { return counts(s.id); })) return true;
    return !also_.empty() && is_below(*way_.front().handle, counts);
  }

  found_path ended(found_path with) const {
    if (is_inside() || with.trouble != path_trouble::none) return with;
    return troubled(path_trouble::outside, "leads out of the folder through a symbolic link");
  }

  /// For reading: the same name again, if it still is the same file.
  found_path reopened(found_path found, const std::string& name, open_for use) const {
    if (use == open_for::place || found.kind != found_kind::file) return found;
    found_path again = with_facts(detail::descriptor{::openat(top(), name.c_str(), flags_for(use) | O_NOFOLLOW)});
    if (!again.handle) return again;
    if (again.id != found.id) return troubled(path_trouble::outside, "became another file while it was opened");
    return again;
  }

  found_path last_folder(open_for use) {
    if (!is_inside()) return ended({});
    if (use == open_for::place) return with_facts(std::move(way_.back().handle));
    return with_facts(detail::descriptor{::openat(top(), ".", flags_for(use) | O_DIRECTORY)});
  }

  int start_;
  detail::file_id inside_;
  std::span<const detail::file_id> also_;
  std::vector<step> way_;  // the last is where we are; the first is the start, or where a link or .. restarted
  std::string pending_;
  found_path failure_;
  int links_ = 0;
};

}  // namespace

detail::descriptor::~descriptor() {
  if (number_ >= 0) ::close(number_);
}

std::string real_path(const detail::descriptor& opened) {
  char path[PATH_MAX + 1];
  const std::string link = fmt::format("/proc/self/fd/{}", *opened);
  const ssize_t length = ::readlink(link.c_str(), path, sizeof path);
  return length > 0 && path[0] == '/' ? std::string{path, std::size_t(length)} : std::string{};
}

result<detail::held_folder> detail::held_folder::open(const std::string& path) try {
  const std::string named = path.empty() ? "." : path;
  detail::descriptor opened{::open(named.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!opened) {
    const int error = errno;
    return failed(error == ENOENT || error == ENOTDIR ? status_code::no_suchfile : code_of_system(error),
                  "folder '{}': {}", named, std::strerror(error));
  }
  found_path at = with_facts(std::move(opened));
  if (!at.handle) return failed(status_code::fail, "folder '{}': {}", named, at.why);
  return detail::held_folder{named, std::move(at.handle), at.id};
} catch (const std::bad_alloc&) {
  return status_code::out_of_memory;
}

detail::held_folder detail::held_folder::of(found_path found, std::string path) {
  return {std::move(path), std::move(found.handle), found.id};
}

found_path detail::held_folder::find(const path_rule& rule, std::string_view location, open_for use,
                                     std::span<const file_id> also, follow how) const {
  if (const std::string_view why = malformed(rule, location); !why.empty())
    return troubled(path_trouble::malformed, std::string{why});
  const std::string text{location};
  if (rule.anywhere) {
    detail::descriptor opened{::openat(*handle_, text.c_str(), flags_for(use))};
    return opened ? with_facts(std::move(opened)) : not_opened(errno);
  }
  if (how == follow::kernel) {
    detail::descriptor opened = open_beneath(*handle_, text.c_str(), use);
    if (opened) return with_facts(std::move(opened));
    if (errno == ENOENT || errno == ENOTDIR) return {};
  }
  return walker{*handle_, id_, also}.walk(text, use);
}

CAMEO_END_NAMESPACE
