#include "file/messages.hpp"
#include "package/impl.hpp"

namespace CAMEO_NAMESPACE {
namespace {

json parsed(const std::string& text) { return parse_json(text).value; }  // the text was checked when it was read or set

void put_text(json& to, const char* field, const std::optional<std::string>& text) {
  if (text) append(to, field, *text);
}
void put_members(json& to, const std::string& object) {
  if (object.empty()) return;
  const json members = parsed(object);
  for (const auto& [key, value] : members.items()) append(to, key, value);
}

/// The manifest's reference to a component's file: its folder if the file has the usual name, otherwise its path.
std::string reference_to(const std::string& file) {
  const std::string_view folder = parent_of(file);
  const bool is_usual = !folder.empty() && file.substr(folder.size() + 1) == component_file;
  return is_usual ? std::string{folder} : file;
}

}  // namespace

json to_json(const package_variant& v, const std::optional<std::string>& directory) {
  json made = json::object();
  if (directory && *directory != v.name) append(made, "variant_directory", *directory);
  put_text(made, "ep", v.ep);
  put_text(made, "device", v.device);
  put_text(made, "compatibility_string", v.compatibility);
  if (!v.executors.empty()) {
    json& all = append(made, "executor_info", json::object());
    for (const executor_info& each : v.executors)
      append(all, each.name, each.file ? json(*each.file) : parsed(each.json));
  }
  if (!v.metadata.empty()) append(made, "additional_metadata", parsed(v.metadata));
  put_members(made, v.unknown);
  return made;
}

json to_json(const package_component& c, bool at_root) {
  json made = json::object();
  put_text(made, "component_name", c.component_name);
  json& variants = append(made, "variants", json::object());
  for (const package_variant& v : c.variants) {
    std::optional<std::string> directory = v.directory;
    const bool is_asset = directory && as_asset(*directory);
    if (at_root && !c.base.empty() && !is_asset) directory = joined(c.base, v.directory.value_or(v.name));
    if (directory && directory->ends_with("/.")) directory->resize(directory->size() - 2);
    append(variants, v.name, to_json(v, directory));
  }
  if (!c.metadata.empty()) append(made, "additional_metadata", parsed(c.metadata));
  put_members(made, c.unknown);
  return made;
}

json to_json(const package::impl& p) {
  json made = json::object();
  append(made, "schema_version", p.major == 1 ? fmt::format("1.{}", p.minor) : "1.0");
  put_text(made, "package_name", p.name);
  put_text(made, "package_version", p.version);
  put_text(made, "description", p.description);
  if (p.installed) append(made, "layout", "installed");
  json& components = append(made, "components", json::object());
  for (const package_component& c : p.components)
    append(components, c.name, c.file ? json(reference_to(*c.file)) : to_json(c, true));
  json assets = json::object();
  for (const package_asset& a : p.assets)
    if (a.is_listed) append(assets, a.uri, a.path);
  if (!assets.empty()) append(made, "shared_assets", std::move(assets));
  if (!p.metadata.empty()) append(made, "additional_metadata", parsed(p.metadata));
  put_members(made, p.unknown);
  return made;
}

}  // namespace CAMEO_NAMESPACE
