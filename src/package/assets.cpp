#include "file/messages.hpp"
#include "package/impl.hpp"
#include "package/sha256.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

CAMEO_BEGIN_NAMESPACE
namespace {

struct folder_closer {
  void operator()(DIR* opened) const { ::closedir(opened); }
};

result<std::string> hash_file(const detail::descriptor& file) {
  sha256 hash;
  std::vector<std::byte> buffer(std::size_t{1} << 18);
  while (true) {
    const ssize_t got = ::read(*file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(status_code::fail, "cannot be read: {}", std::strerror(errno));
    if (got == 0) return hash.hex();
    hash.add(std::span{buffer}.first(std::size_t(got)));
  }
}

/// Appends "<hash>  <path>" of every file below an open folder.
status list_files(int folder, const std::string& below, int depth,
                  std::vector<std::pair<std::string, std::string>>& to) {
  if (depth > deepest_folder) return failed(status_code::invalid_argument, "'{}': folders nested too deeply", below);
  result<std::vector<std::string>> names = names_in(folder);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const std::string path = joined(below, name);
    if (const std::string_view why = malformed(package_path, name); !why.empty())
      return failed(status_code::invalid_argument, "'{}' {}", path, why);
    const detail::descriptor opened{
        ::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    struct stat facts{};
    if (!opened || ::fstat(*opened, &facts) != 0)
      return failed(status_code::invalid_argument, "'{}' {}", path,
                    errno == ELOOP ? "is a symbolic link, which a shared asset may not have" : std::strerror(errno));
    if (S_ISDIR(facts.st_mode)) {
      if (status s = list_files(*opened, path, depth + 1, to); !s) return s;
      continue;
    }
    if (!S_ISREG(facts.st_mode))
      return failed(status_code::invalid_argument, "'{}' is neither a file nor a folder", path);
    result<std::string> hash = hash_file(opened);
    if (!hash) return std::move(hash).error().in(path);
    to.emplace_back(path, *hash);
  }
  return {};
}

}  // namespace

bool list_folder(int folder, std::unordered_map<std::string, found_kind>& to) {
  const int own = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, folder_closer> listed{own < 0 ? nullptr : ::fdopendir(own)};
  if (!listed) return false;
  while (const dirent* entry = ::readdir(listed.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    to.emplace(name, entry->d_type == DT_DIR   ? found_kind::folder
                     : entry->d_type == DT_REG ? found_kind::file
                                               : found_kind::other);
  }
  return true;
}

result<std::vector<std::string>> names_in(int folder) {
  std::unordered_map<std::string, found_kind> all;
  if (!list_folder(folder, all)) return failed(status_code::fail, "cannot be listed: {}", std::strerror(errno));
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const auto& [name, kind] : all) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

result<std::string> hash_opened_folder(const detail::descriptor& opened, std::string_view called) {
  std::vector<std::pair<std::string, std::string>> files;
  if (status s = list_files(*opened, {}, 0, files); !s) return std::move(s).in(called);
  std::sort(files.begin(), files.end());
  sha256 all;
  for (const auto& [path, hash] : files) all.add(fmt::format("{}  {}\n", hash, path));
  return "sha256:" + all.hex();
}

result<std::string> hash_folder(const std::string& path) {
  return guarded([&]() -> result<std::string> {
    const detail::descriptor opened{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!opened)
      return failed(errno == ENOENT ? status_code::no_suchfile : status_code::fail, "folder '{}': {}", path,
                    std::strerror(errno));
    return hash_opened_folder(opened, path);
  });
}

void package_reader::find_assets() {
  const led_to to = follow_text(to_, {}, assets_folder, open_for::reading);
  if (to.fault != package_fault::none || to.at.kind != found_kind::folder) return;
  const result<std::vector<std::string>> names = names_in(*to.at.handle);
  if (!names) return;
  for (const std::string& name : *names) {
    std::string uri = name;
    constexpr std::string_view prefix = "sha256-";
    if (!name.starts_with(prefix)) continue;
    uri[prefix.size() - 1] = ':';
    const std::optional<asset_reference> asset = as_asset(uri);
    if (!asset || asset->has_tail || to_.assets.find(uri)) continue;
    const std::string path = joined(assets_folder, name);
    if (follow_text(to_, {}, path).at.is(found_kind::folder)) to_.assets.add({uri, path, false});
  }
}

void verify_assets(const package::impl& in, problem_list& problems) {
  const place top{manifest_file}, all = top / "shared_assets";
  for (const package_asset& asset : in.assets) {
    const place at = all / asset.uri;
    const led_to to = follow_text(in, {}, asset.path, open_for::reading);
    if (!to.at.is(found_kind::folder)) {
      problems.add(package_fault::not_found, at, fmt::format("there is no folder '{}'", asset.path));
      continue;
    }
    const result<std::string> hash = hash_opened_folder(to.at.handle, asset.path);
    if (!hash) problems.add(package_fault::integrity, at, std::string{hash.error().words()});
    else if (*hash != asset.uri)
      problems.add(package_fault::integrity, at, fmt::format("the files in '{}' make {}", asset.path, *hash));
  }
}

CAMEO_END_NAMESPACE
