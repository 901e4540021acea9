#include "destination.hpp"

#include "held_folder.hpp"
#include "messages.hpp"

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

CAMEO_BEGIN_NAMESPACE
namespace {

std::string read_link(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  return length < 0 ? std::string{} : std::string(target, std::size_t(length));
}

/// A link in a folder like /tmp that neither its owner nor this user has put there. The system refuses to follow it
/// when it opens the path; code that reads links by itself has to check for them.
bool is_planted(const struct stat& link, const std::string& folder) {
  struct stat around{};
  if (::stat(folder.empty() ? "." : folder.c_str(), &around) != 0) return false;
  constexpr mode_t anybodys = S_ISVTX | S_IWOTH;
  return (around.st_mode & anybodys) == anybodys && link.st_uid != ::geteuid() && link.st_uid != around.st_uid;
}

/// The links in /proc/PID/fd are not paths: they lead to what a process has open, which may have no name at all.
bool leads_to_open_file(const std::string& folder) {
  char real[PATH_MAX];
  const std::string_view name = ::realpath(folder.empty() ? "." : folder.c_str(), real) ? real : "";
  return name.starts_with("/proc/") && name.ends_with("/fd");
}

/// The descriptor of this process that such a link stands for; -1 if it is another's.
int own_descriptor(const std::string& path, const struct stat& there) {
  const std::string_view name = std::string_view{path}.substr(folder_part(path).size());
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  struct stat mine{};
  if (error != std::errc{} || end != name.data() + name.size() || ::fstat(number, &mine) != 0) return -1;
  return mine.st_dev == there.st_dev && mine.st_ino == there.st_ino ? number : -1;
}

}  // namespace

status system_error(const std::string& path, std::string_view doing) {
  const int error = errno;
  return failed(code_of_system(error), "{}: {}: {}", path, doing, std::strerror(error));
}

std::string folder_part(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

result<destination> find_destination(const std::string& path) {
  if (path.empty()) return failed(status_code::fail, "the path of a file to write is empty");
  const auto refuse_folder = [&] {
    return failed(status_code::fail, "{}: is a folder; what is to be written there is a file", path);
  };
  destination at{path, {}, -1, false};
  for (int links = 0; links <= most_links; ++links) {
    struct stat facts{};
    if (::lstat(at.path.c_str(), &facts) != 0) {
      if (errno == ENOENT) return at;  // a folder that is not there shows when the file is made
      return system_error(path, "cannot be written");
    }
    if (S_ISDIR(facts.st_mode)) return refuse_folder();
    if (!S_ISLNK(facts.st_mode)) {
      at.facts = facts;
      return at;
    }
    const std::string folder = folder_part(at.path);
    if (leads_to_open_file(folder)) {
      if (::stat(at.path.c_str(), &facts) != 0) return system_error(path, "cannot be written");
      if (S_ISDIR(facts.st_mode)) return refuse_folder();
      at.facts = facts;
      at.descriptor = own_descriptor(at.path, facts);
      at.appends = at.descriptor < 0 && S_ISREG(facts.st_mode);
      return at;
    }
    if (is_planted(facts, folder))
      return failed(
          status_code::fail,
          "{}: '{}' is a link that another user has put into a folder where everybody may; it is not followed", path,
          at.path);
    const std::string target = read_link(at.path);
    if (target.empty()) return system_error(path, "cannot read the link");
    at.path = target.front() == '/' ? target : folder + target;
  }
  errno = ELOOP;
  return system_error(path, "cannot be written");
}

CAMEO_END_NAMESPACE
