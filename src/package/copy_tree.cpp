#include "file/messages.hpp"
#include "package/impl.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

CAMEO_BEGIN_NAMESPACE
namespace {

/// What is copied may be called as it is; what packages name is checked where it is named.
constexpr const path_rule& copied_path = external_data_path;

status system_error(const std::string& path, std::string_view doing) {
  return failed(status_code::fail, "{}: {}: {}", path, doing, std::strerror(errno));
}

bool write_all(int to, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = ::write(to, bytes, count);
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) bytes += written, count -= std::size_t(written);
  }
  return true;
}

status copy_file(const detail::descriptor& from, const std::string& to) {
  const detail::descriptor made{::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666)};
  if (!made) return system_error(to, "cannot be made");
  std::string buffer(std::size_t{1} << 20, '\0');
  while (true) {
    const ssize_t got = ::read(*from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(to, "the file that it is a copy of cannot be read");
    if (got == 0) break;
    if (!write_all(*made, buffer.data(), std::size_t(got))) return system_error(to, "cannot be written");
  }
  return ::fsync(*made) == 0 ? status{} : system_error(to, "cannot be written");
}

status copy_folder(const detail::held_folder& from, const std::string& below, const std::string& to, int depth,
                   detail::function_ref<bool(const std::string&)> skips) {
  if (depth > deepest_folder) return failed(status_code::fail, "'{}': folders nested too deeply", below);
  const found_path opened = from.find(copied_path, below.empty() ? "." : below, open_for::reading);
  if (!opened.is(found_kind::folder))
    return failed(status_code::fail, "'{}/{}' {}", from.path(), below,
                  opened.why.empty() ? "is no folder" : opened.why);
  const result<std::vector<std::string>> names = names_in(*opened.handle);
  if (!names) return status{names.error()};
  if (::mkdir(to.c_str(), 0777) != 0) return system_error(to, "cannot be made");
  for (const std::string& name : *names) {
    const std::string path = joined(below, name), copy = to + "/" + name;
    if (skips(path)) continue;
    const found_path at = from.find(copied_path, path, open_for::reading);
    status s;
    if (at.is(found_kind::folder)) s = copy_folder(from, path, copy, depth + 1, skips);
    else if (at.is(found_kind::file)) s = copy_file(at.handle, copy);
    else s = failed(status_code::fail, "'{}/{}' {}", from.path(), path, at.why.empty() ? "cannot be copied" : at.why);
    if (!s) return s;
  }
  const detail::descriptor made{::open(to.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (made) (void)::fsync(*made);  // some file systems have nothing to do for it and say so
  return {};
}

}  // namespace

status copy_tree(const detail::held_folder& from, std::string_view below, const std::string& to,
                 detail::function_ref<bool(const std::string&)> skips) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::canonical(std::filesystem::path{from.path()} / below, error);
  const std::filesystem::path place = error ? whole : std::filesystem::weakly_canonical(to, error);
  if (!error && std::mismatch(whole.begin(), whole.end(), place.begin(), place.end()).first == whole.end())
    return failed(status_code::invalid_argument, "'{}' holds the folder that it is to be copied to", whole.string());
  return copy_folder(from, std::string{below}, to, 0, skips);
}

CAMEO_END_NAMESPACE
