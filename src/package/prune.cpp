#include "file/messages.hpp"
#include "package/impl.hpp"

#include <algorithm>
#include <filesystem>

namespace CAMEO_NAMESPACE {
namespace {

namespace fs = std::filesystem;

/// All paths that a text in the package could name. This is a superset of the named paths, because files in it are
/// kept.
class named_paths {
 public:
  explicit named_paths(const package::impl& p) {
    add_texts(p.metadata, {});
    add_texts(p.unknown, {});
    for (const package_asset& a : p.assets)
      if (a.is_listed) add(a.path);
    for (const package_component& c : p.components) add_component(c);
  }

  /// True if a text could name the path, a path below it, or a folder that contains it.
  bool has(const std::string& path) const {
    if (paths_.count(path)) return true;
    const auto below = paths_.lower_bound(path + "/");
    if (below != paths_.end() && below->starts_with(path + "/")) return true;
    for (std::string_view above = parent_of(path); !above.empty() && above != "/"; above = parent_of(above))
      if (paths_.count(std::string{above})) return true;
    return false;
  }
  bool has_asset(const std::string& uri) const { return assets_.count(uri) > 0; }

 private:
  void add_component(const package_component& c) {
    if (c.file) add(*c.file);
    add_texts(c.metadata, c.base);
    add_texts(c.unknown, c.base);
    for (const package_variant& v : c.variants) {
      const std::string folder = v.folder.empty() ? joined(c.base, v.directory.value_or(v.name)) : v.folder;
      add(folder);
      add_texts(v.metadata, c.base);
      add_texts(v.unknown, c.base);
      for (const executor_info& each : v.executors) {
        if (each.file) add(joined(folder, *each.file)), add_text(*each.file, c.base);
        for (const std::string& base : {folder, c.base}) add_texts(each.json, base);
      }
    }
  }

  void add(const std::string& path) {
    std::string plain = fs::path{path}.lexically_normal().string();
    while (plain.ends_with('/')) plain.pop_back();
    if (!plain.empty() && plain != ".") paths_.insert(plain);
  }

  void add_text(const std::string& text, const std::string& base) {
    if (const std::optional<asset_reference> asset = as_asset(text)) assets_.insert(std::string{asset->uri});
    if (text.empty() || text.size() > 4096) return;
    add(text);
    add(joined(base, text));
  }

  void add_texts(const std::string& text, const std::string& base) {
    if (!text.empty()) add_all(parse_json(text).value, base);
  }
  void add_all(const json& value, const std::string& base) {
    if (value.is_string()) add_text(value.get_ref<const std::string&>(), base);
    if (value.is_structured())
      for (const auto& [key, member] : value.items()) {
        if (value.is_object()) add_text(key, base);
        add_all(member, base);
      }
  }

  std::set<std::string> paths_, assets_;
};

bool has_model(const std::string& folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator at{folder, error}, end; !error && at != end; at.increment(error)) {
    const std::string kind = at->path().extension().string();
    if (kind == ".onnx" || kind == ".ort") return true;
  }
  return false;
}

class pruner {
 public:
  explicit pruner(const package::impl& p) : package_{p}, named_{p}, root_{p.root_path()} {}

  std::vector<std::string> candidates(bool assets) const {
    std::set<std::string> bases{""}, found;
    for (const package_component& c : package_.components) bases.insert(c.base);
    for (const std::string& path : package_.superseded) {
      bases.insert(std::string{parent_of(path)});
      if (!named_.has(path) && fs::exists(fs::symlink_status(root_ + "/" + path))) found.insert(path);
    }
    for (const std::string& base : bases)
      if (!base.starts_with('/')) look_into(base, found);
    look_for_assets(assets, found);
    return {found.begin(), found.end()};
  }

 private:
  void look_into(const std::string& base, std::set<std::string>& to) const {
    std::error_code error;
    for (fs::directory_iterator at{root_ + "/" + base, error}, end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string(), path = joined(base, name);
      if (path == assets_folder || path == manifest_file || path == "models") continue;
      const fs::file_type type = at->symlink_status(error).type();
      const bool is_left = is_temporary(name) ||
                           (type == fs::file_type::regular && !base.empty() && is_component_file(name)) ||
                           (type == fs::file_type::directory && has_model(at->path().string()));
      if (is_left && !named_.has(path)) to.insert(path);
    }
  }

  void look_for_assets(bool assets, std::set<std::string>& to) const {
    std::error_code error;
    const std::string folder{assets_folder};
    for (fs::directory_iterator at{root_ + "/" + folder, error}, end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string(), path = joined(folder, name);
      std::string uri = name;
      if (name.starts_with("sha256-")) uri[6] = ':';
      const bool is_unused = assets && as_asset(uri) && !named_.has_asset(uri) && !named_.has(path);
      if (is_temporary(name) || is_unused) to.insert(path);
    }
  }

  const package::impl& package_;
  named_paths named_;
  std::string root_;
};

}  // namespace

result<std::vector<std::string>> package::prune(bool dry_run, bool assets) {
  return guarded([&]() -> result<std::vector<std::string>> {
    if (!impl_->root || impl_->is_edited())
      return status{status_code::fail, "the package has edits that are not on disk: commit them first"};
    if (impl_->layout != package_layout::schema_1)
      return status{status_code::fail, "the package has an older layout: commit it first"};
    std::shared_ptr<const folder_lock> lock;
    if (!dry_run) {
      auto taken = impl_->locked();
      if (!taken) return std::move(taken).error();
      lock = *std::move(taken);
    }
    auto now = impl_->merged();
    if (!now) return std::move(now).error();
    *impl_ = std::move(**now);
    const std::vector<std::string> found = pruner{*impl_}.candidates(assets);
    if (dry_run) return found;
    const std::string root = impl_->root_path();
    for (const std::string& path : found) {
      std::error_code error;
      std::filesystem::remove_all(root + "/" + path, error);
      if (error) return failed(status_code::fail, "{}/{}: cannot be removed: {}", root, path, error.message());
    }
    impl_->superseded.clear();
    if (!assets) return found;
    const std::set<std::string_view> gone{found.begin(), found.end()};
    impl_->assets.erase_if([&](const package_asset& a) { return gone.contains(a.path); });
    return found;
  });
}

}  // namespace CAMEO_NAMESPACE
