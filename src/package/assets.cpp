#include "file/messages.hpp"
#include "os/folders.hpp"
#include "package/impl.hpp"
#include "package/sha256.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

result<std::string> hash_file(const os::handle& file) {
  sha256 hash;
  std::vector<std::byte> buffer(std::size_t{1} << 18);
  while (true) {
    const result<std::size_t> got = os::read(file, buffer);
    if (!got) return with_code(status_code::fail, got.error()).in("cannot be read");
    if (*got == 0) return hash.hex();
    hash.add(std::span{buffer}.first(*got));
  }
}

/// Appends the path and the hash of every file below an open folder.
status list_files(const os::handle& folder, const std::string& below, int depth,
                  std::vector<std::pair<std::string, std::string>>& to) {
  if (depth > deepest_folder) return failed(status_code::invalid_argument, "'{}': folders nested too deeply", below);
  result<std::vector<std::string>> names = names_in(folder);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const std::string path = joined(below, name);
    if (const std::string_view why = malformed(package_path, name); !why.empty())
      return failed(status_code::invalid_argument, "'{}' {}", path, why);
    const result<os::handle> opened = os::open(folder, name, os::access::reading, os::last_link::kept);
    const result<os::file_facts> facts =
        opened ? os::facts_of(*opened) : os::facts_at(folder, name, os::last_link::kept);
    if (facts && facts->kind == os::file_kind::link)
      return failed(status_code::invalid_argument, "'{}' is a symbolic link, which a shared asset may not have", path);
    if (!opened || !facts)
      return failed(status_code::invalid_argument, "'{}' {}", path, (opened ? facts.error() : opened.error()).words());
    if (facts->kind == os::file_kind::folder) {
      if (status s = list_files(*opened, path, depth + 1, to); !s) return s;
      continue;
    }
    if (facts->kind != os::file_kind::file)
      return failed(status_code::invalid_argument, "'{}' is neither a file nor a folder", path);
    result<std::string> hash = hash_file(*opened);
    if (!hash) return std::move(hash).error().in(path);
    to.emplace_back(path, *hash);
  }
  return {};
}

}  // namespace

status list_folder(const os::handle& folder, std::unordered_map<std::string, os::file_kind>& to) {
  return os::list(folder, [&](std::string_view name, os::file_kind kind) { to.emplace(name, kind); });
}

result<std::vector<std::string>> names_in(const os::handle& folder) {
  std::unordered_map<std::string, os::file_kind> all;
  if (status s = list_folder(folder, all); !s) return with_code(status_code::fail, s).in("cannot be listed");
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const auto& [name, kind] : all) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

result<std::string> hash_opened_folder(const os::handle& opened, std::string_view called) {
  std::vector<std::pair<std::string, std::string>> files;
  if (status s = list_files(opened, {}, 0, files); !s) return std::move(s).in(called);
  std::sort(files.begin(), files.end());
  sha256 all;
  for (const auto& [path, hash] : files) all.add(fmt::format("{}  {}\n", hash, path));
  return "sha256:" + all.hex();
}

result<std::string> hash_folder(const std::string& path) {
  return guarded([&]() -> result<std::string> {
    const result<os::handle> opened = os::open_folder({}, path);
    if (!opened) return opened.error().in(fmt::format("folder '{}'", path));
    return hash_opened_folder(*opened, path);
  });
}

void package_reader::find_assets() {
  const target to = follow_text(made_, {}, assets_folder, open_for::reading);
  if (to.fault != package_fault::none || to.at.kind != os::file_kind::folder) return;
  const result<std::vector<std::string>> names = names_in(to.at.handle);
  if (!names) return;
  for (const std::string& name : *names) {
    std::string uri = name;
    constexpr std::string_view prefix = "sha256-";
    if (!name.starts_with(prefix)) continue;
    uri[prefix.size() - 1] = ':';
    const std::optional<asset_reference> asset = as_asset(uri);
    if (!asset || asset->has_tail || made_.assets.find(uri)) continue;
    const std::string path = joined(assets_folder, name);
    if (follow_text(made_, {}, path).at.has_kind(os::file_kind::folder)) made_.assets.add({uri, path, false});
  }
}

void verify_assets(const package::impl& in, problem_list& problems) {
  const place top{manifest_file}, all = top / "shared_assets";
  for (const package_asset& asset : in.assets) {
    const place at = all / asset.uri;
    const target to = follow_text(in, {}, asset.path, open_for::reading);
    if (!to.at.has_kind(os::file_kind::folder)) {
      problems.add(package_fault::not_found, at, fmt::format("there is no folder '{}'", asset.path));
      continue;
    }
    const result<std::string> hash = hash_opened_folder(to.at.handle, asset.path);
    if (!hash) problems.add(package_fault::integrity, at, std::string{hash.error().words()});
    else if (*hash != asset.uri)
      problems.add(package_fault::integrity, at, fmt::format("the files in '{}' have the hash {}", asset.path, *hash));
  }
}

}  // namespace CAMEO_NAMESPACE
