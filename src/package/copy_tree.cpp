#include "file/messages.hpp"
#include "os/folders.hpp"
#include "package/impl.hpp"

#include <algorithm>
#include <filesystem>

namespace CAMEO_NAMESPACE {
namespace {

/// The rule for copied files allows every name: paths in packages are checked when a package is read.
constexpr const path_rule& copied_path = external_data_path;

status copy_file(const os::handle& from, const std::string& to) {
  const result<os::handle> made = os::create_new(to);
  if (!made || !*made) return system_error(to, "cannot be made", made ? os::name_is_taken() : made.error());
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  while (true) {
    const result<std::size_t> got = os::read(from, buffer);
    if (!got) return system_error(to, "the file that it is a copy of cannot be read", got.error());
    if (*got == 0) break;
    if (status s = os::write(*made, std::span{buffer}.first(*got)); !s) return system_error(to, "cannot be written", s);
  }
  const status flushed = os::flush(*made);
  return flushed ? status{} : system_error(to, "cannot be written", flushed);
}

status copy_folder(const detail::held_folder& from, const std::string& below, const std::string& to, int depth,
                   detail::function_ref<bool(const std::string&)> skips) {
  if (depth > deepest_folder) return failed(status_code::fail, "'{}': folders nested too deeply", below);
  const found_path opened = from.find(copied_path, below.empty() ? "." : below, open_for::reading);
  if (!opened.has_kind(os::file_kind::folder))
    return failed(status_code::fail, "'{}/{}' {}", from.path(), below,
                  opened.why.empty() ? "is not a folder" : opened.why);
  const result<std::vector<std::string>> names = names_in(opened.handle);
  if (!names) return status{names.error()};
  if (status s = make_new_folder(to); !s) return s;
  for (const std::string& name : *names) {
    const std::string path = joined(below, name), copy = to + "/" + name;
    if (skips(path)) continue;
    const found_path at = from.find(copied_path, path, open_for::reading);
    status s;
    if (at.has_kind(os::file_kind::folder)) s = copy_folder(from, path, copy, depth + 1, skips);
    else if (at.has_kind(os::file_kind::file)) s = copy_file(at.handle, copy);
    else s = failed(status_code::fail, "'{}/{}' {}", from.path(), path, at.why.empty() ? "cannot be copied" : at.why);
    if (!s) return s;
  }
  os::flush_folder(to);
  return {};
}

}  // namespace

status make_new_folder(const std::string& path) {
  const result<bool> made = os::make_folder(path);
  if (made && *made) return {};
  return system_error(path, "cannot be made", made ? os::name_is_taken() : made.error());
}

status copy_tree(const detail::held_folder& from, std::string_view below, const std::string& to,
                 detail::function_ref<bool(const std::string&)> skips) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::canonical(std::filesystem::path{from.path()} / below, error);
  const std::filesystem::path place = error ? whole : std::filesystem::weakly_canonical(to, error);
  if (!error && std::mismatch(whole.begin(), whole.end(), place.begin(), place.end()).first == whole.end())
    return failed(status_code::invalid_argument, "'{}' contains the folder that it is to be copied to", whole.string());
  return copy_folder(from, std::string{below}, to, 0, skips);
}

}  // namespace CAMEO_NAMESPACE
