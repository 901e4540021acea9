#include "package/impl.hpp"

#include "file/messages.hpp"

#include <algorithm>
#include <filesystem>

namespace CAMEO_NAMESPACE {

std::string joined(std::string_view base, std::string_view text) {
  if (base.empty() || text.starts_with('/')) return std::string{text};
  std::string made;
  made.reserve(base.size() + 1 + text.size());
  return made.append(base).append(1, '/').append(text);
}

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view{} : slash == 0 ? "/" : path.substr(0, slash);
}

std::string free_name(const std::string& name, const std::set<std::string>& taken) {
  std::string made = name;
  for (int i = 2; taken.count(without_case(made)); ++i) made = fmt::format("{}-{}", name, i);
  return made;
}

bool is_temporary(std::string_view name) {
  if (!name.ends_with(".tmp")) return false;
  const bool is_ours = name.starts_with('.') || name.find(".json.") != name.npos;
  return is_ours && std::count(name.begin(), name.end(), '.') >= 3;
}

bool is_component_file(std::string_view name) {
  return name == component_file || (name.starts_with("component-") && name.ends_with(".json"));
}

bool is_own_name(std::string_view name) {
  const std::string lower = lower_case(name);
  return lower == manifest_file || lower == assets_folder || lower == folder_lock_file || is_component_file(lower) ||
         is_temporary(lower);
}

std::string package::impl::root_path() const {
  if (!root) return {};
  std::error_code error;
  const std::filesystem::path made = std::filesystem::canonical(folder.empty() ? "." : folder, error);
  return error ? root->path() : made.string();
}

std::optional<asset_reference> as_asset(std::string_view text) {
  constexpr std::string_view scheme = "sha256:";
  constexpr std::size_t length = scheme.size() + 64;
  if (!text.starts_with(scheme) || text.size() < length || (text.size() > length && text[length] != '/')) return {};
  const std::string_view digits = text.substr(scheme.size(), 64);
  if (digits.find_first_not_of("0123456789abcdef") != digits.npos) return {};
  if (text.size() == length) return asset_reference{text, {}, false};
  return asset_reference{text.substr(0, length), text.substr(length + 1), true};
}

target follow_text(const package::impl& in, std::string_view base, std::string_view text, open_for use) {
  target made;
  const auto fails = [&](package_fault fault, std::string words) -> target {
    made.fault = fault, made.words = std::move(words);
    return std::move(made);
  };
  if (text.empty()) return fails(package_fault::schema, "names no file");
  std::string_view checked = text;
  if (const std::optional<asset_reference> asset = as_asset(text)) {
    const package_asset* const at = in.assets.find(asset->uri);
    if (!at) return fails(package_fault::not_found, fmt::format("there is no shared asset '{}'", asset->uri));
    if (asset->has_tail && (asset->tail.empty() || !malformed(package_path, asset->tail).empty()))
      return fails(
          package_fault::confinement,
          fmt::format("'{}' {}", text, asset->tail.empty() ? "names no file" : malformed(package_path, asset->tail)));
    made.path = asset->has_tail ? joined(at->path, asset->tail) : at->path;
    checked = {};
  } else {
    made.path = joined(base, text);
  }
  if (!checked.empty())
    if (const std::string_view why = malformed(in.rule(), checked); !why.empty())
      return fails(package_fault::confinement, fmt::format("'{}' {}", text, why));
  if (!in.root) return made;
  made.at = in.root->find(in.rule(), made.path, use);
  switch (made.at.error) {
    case path_error::none: break;
    case path_error::malformed:
    case path_error::outside: return fails(package_fault::confinement, fmt::format("'{}' {}", text, made.at.why));
    case path_error::system: return fails(package_fault::io, fmt::format("'{}' {}", text, made.at.why));
  }
  if (made.at.kind == os::file_kind::disk || made.at.kind == os::file_kind::other)
    return fails(package_fault::confinement, fmt::format("'{}' is neither a file nor a folder", text));
  return made;
}

result<std::string> read_text(const os::handle& file, std::size_t most) {
  const result<os::file_facts> facts = os::facts_of(file);
  if (!facts || facts->kind != os::file_kind::file) return status{status_code::fail, "is not a regular file"};
  std::string made;
  std::size_t size = std::min(std::size_t(facts->bytes) + 1, most + 1);
  while (true) {  // until the end of the file, whose size may change meanwhile
    const std::size_t before = made.size();
    made.resize(before + std::max(size, std::size_t{4096}));
    const result<std::size_t> got = os::read(file, std::as_writable_bytes(std::span{made}.subspan(before)));
    if (!got) return with_code(status_code::fail, got.error()).in("cannot be read");
    made.resize(before + *got);
    if (*got == 0) return made;
    if (made.size() > most) return failed(status_code::fail, "has more than {} bytes", most);
    size = 4096;
  }
}

}  // namespace CAMEO_NAMESPACE
