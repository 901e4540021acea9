#include "file/messages.hpp"
#include "package/impl.hpp"

#include <algorithm>
#include <unordered_set>

// Reads the layouts before schema 1, in which fields of the same meaning have several names. The file
// models/<component>/metadata.json has precedence; the manifest may have fields that it lacks. The first draft had no
// metadata.json, but a list of variants in the manifest.

namespace CAMEO_NAMESPACE {

class older_reader {
 public:
  older_reader(package_reader& reader, package::impl& to, problem_list& problems)
      : reader_{reader}, made_{to}, problems_{problems} {}

  void read(const json& manifest, const place& at) {
    made_.major = made_.minor = 0;
    made_.layout = is_flat(manifest) ? package_layout::flat : package_layout::metadata;
    made_.name = first_text(manifest, {"model_name", "name", "package_name"}, at);
    made_.version = first_text(manifest, {"model_version", "version", "package_version"}, at);
    made_.description = reader_.text_of(manifest, "description", at);
    if (made_.layout == package_layout::flat) return read_flat(manifest, at);
    for (const named& each : components_of(manifest, at)) read_component(each, at);
  }

  /// True if the manifest of the first draft has a list of variants as its components.
  static bool is_flat(const json& manifest) {
    const auto found = manifest.find("components");
    return found != manifest.end() && found->is_array() && !found->empty() && found->front().is_object() &&
           found->front().contains("variant_name");
  }

 private:
  /// A component or a variant by name, with its value in the manifest (null: none).
  struct named {
    std::string name;
    const json* in_manifest = nullptr;
  };

  static const json* first_of(const json* object, std::initializer_list<std::string_view> fields) {
    if (!object || !object->is_object()) return nullptr;
    for (const std::string_view field : fields)
      if (const auto found = object->find(field); found != object->end() && !found->is_null()) return &*found;
    return nullptr;
  }

  std::optional<std::string> first_text(const json& object, std::initializer_list<std::string_view> fields,
                                        const place& at) {
    for (const std::string_view field : fields)
      if (object.contains(field)) return reader_.text_of(object, field, at);
    return {};
  }

  std::vector<named> components_of(const json& manifest, const place& above) {
    std::vector<named> made;
    const json* const all = first_of(&manifest, {"component_models", "components"});
    const place at = above / "component_models";
    if (!all) return component_folders();
    if (all->is_object()) {
      for (const auto& [name, value] : all->items()) made.push_back({name, &value});
    } else if (all->is_array()) {
      for (const json& each : *all) {
        const json* const name =
            each.is_string() ? &each
                             : first_of(&each, {"component_model_name", "component_name", "model_name", "name"});
        if (name && name->is_string()) made.push_back({name->get<std::string>(), &each});
        else problems_.add(package_fault::schema, at, "needs names, or objects that have one");
      }
    } else {
      problems_.add(package_fault::schema, at, "needs a list of names, or an object");
    }
    return made;
  }

  /// The components of a package whose manifest does not list them: the folders with a metadata.json.
  std::vector<named> component_folders() {
    std::vector<named> made;
    const target models = follow_text(made_, {}, "models", open_for::reading);
    if (!models.at.has_kind(os::file_kind::folder)) return made;
    const result<std::vector<std::string>> names = names_in(models.at.handle);
    if (!names) return made;
    for (const std::string& name : *names)
      if (follow_text(made_, joined("models", name), "metadata.json").at.has_kind(os::file_kind::file))
        made.push_back({name});
    return made;
  }

  void read_component(const named& which, const place& above) {
    package_component made;
    made.name = which.name;
    const place all = above / "component_models", at = all / which.name;
    const target base = follow_text(made_, "models", which.name);
    if (base.fault != package_fault::none) return problems_.add(base.fault, at, base.words);
    made.base = base.path;
    const std::string file = joined(base.path, "metadata.json");
    std::optional<json_document> metadata;
    if (follow_text(made_, {}, file).at.kind != os::file_kind::nothing) {
      metadata = reader_.load(file, at);
      if (!metadata) return;
    } else if (!first_of(which.in_manifest, {"model_variants", "variants"})) {
      return problems_.add(package_fault::not_found, at, fmt::format("there is no file '{}'", file));
    }
    const place whole{file};
    const json* const from = metadata ? &*metadata : which.in_manifest;
    if (!from->is_object()) return problems_.add(package_fault::schema, whole, "needs an object");
    made.component_name = first_text(*from, {"component_model_name", "component_name"}, metadata ? whole : at);
    read_variants(made, metadata ? &*metadata : nullptr, whole, which.in_manifest, at);
    made_.components.push_back(std::move(made));
  }

  /// The variants in a list or in an object, with their names.
  static std::vector<named> variants_of(const json* in) {
    std::vector<named> made;
    const json* const all = first_of(in, {"model_variants", "variants"});
    if (!all) return made;
    if (all->is_object())
      for (const auto& [name, value] : all->items()) made.push_back({name, &value});
    else if (all->is_array())
      for (const json& each : *all) {
        const json* const name = first_of(&each, {"variant_name", "name"});
        made.push_back({name && name->is_string() ? name->get<std::string>() : std::string{}, &each});
      }
    return made;
  }

  void read_variants(package_component& to, const json* metadata, const place& in_metadata, const json* manifest,
                     const place& in_manifest) {
    const std::vector<named> fallback = variants_of(manifest);
    const std::vector<named> truth = variants_of(metadata);
    const bool has_truth = first_of(metadata, {"model_variants", "variants"}) != nullptr;
    const place& above = has_truth ? in_metadata : in_manifest;
    const place variants = above / "model_variants";
    std::unordered_map<std::string_view, const json*> others;
    for (const named& each : fallback) others.try_emplace(each.name, each.in_manifest);
    for (const named& each : has_truth ? truth : fallback) {
      const auto other = others.find(each.name);
      read_variant(to, each, has_truth && other != others.end() ? other->second : nullptr, variants / each.name);
    }
  }

  void read_variant(package_component& to, const named& which, const json* second, const place& at) {
    if (which.name.empty()) return problems_.add(package_fault::schema, at, "a variant needs a name");
    if (!taken_.insert(to.name + "//" + which.name).second)
      return problems_.add(package_fault::schema, at, fmt::format("variant '{}' is given twice", which.name));
    if (!which.in_manifest->is_object()) return problems_.add(package_fault::schema, at, "needs an object");
    package_variant made;
    made.name = which.name;
    const auto text = [&](std::initializer_list<std::string_view> fields) -> std::optional<std::string> {
      std::optional<std::string> value = first_text(*which.in_manifest, fields, at);
      return value || !second || !second->is_object() ? value : first_text(*second, fields, at);
    };
    const std::optional<std::string> id = text({"model_id"});
    const std::optional<std::string> file = text({"model_file", "file"});
    const json* const own = first_of(which.in_manifest, {"constraints"});
    const json* const others = first_of(second, {"constraints"});
    const place here = at / "constraints";
    const auto constraint = [&](std::string_view field) -> std::optional<std::string> {
      for (const json* from : {own, others})
        if (from && from->is_object() && from->contains(field)) return reader_.text_of(*from, field, here);
      return {};
    };
    if (own && !own->is_object()) problems_.add(package_fault::schema, here, "needs an object");
    made.ep = constraint("ep");
    made.device = constraint("device");
    made.architecture = constraint("architecture");
    made.compatibility = constraint("ep_compatibility_info");
    place_variant(to, made, id ? *id : made.name, file, at);
    keep_as_schema_1(made);
    to.variants.push_back(std::move(made));
  }

  /// Sets the folder and the model file of a variant. In the drafts, the model file is in the variant's folder, in the
  /// component's, or in the package's.
  void place_variant(const package_component& in, package_variant& to, const std::string& folder,
                     const std::optional<std::string>& file, const place& at) {
    const target own = follow_text(made_, in.base, folder);
    if (own.fault != package_fault::none) return problems_.add(own.fault, at, own.words);
    to.directory = folder;
    if (own.at.kind == os::file_kind::folder) to.folder = own.path;
    if (!file) {
      to.model_file = only_model_in(own);
      return;
    }
    target model = follow_text(made_, own.path, *file);
    if (model.fault != package_fault::none) return problems_.add(model.fault, at / "model_file", model.words);
    to.model_file = *file;
    if (model.at.kind == os::file_kind::folder) {
      if (const std::optional<std::string> inside = only_model_in(model)) to.model_file = joined(*file, *inside);
      return;
    }
    if (model.at.kind == os::file_kind::file) return;
    for (const std::string& base : {in.base, std::string{}}) {
      model = follow_text(made_, base, *file);
      if (model.fault != package_fault::none) return problems_.add(model.fault, at / "model_file", model.words);
      if (model.at.kind != os::file_kind::file) continue;
      to.folder = base.empty() ? "." : base;
      to.directory = base == in.base ? "." : to.folder;
      return;
    }
  }

  /// The name of the only model file in a folder; nullopt unless there is exactly one.
  static std::optional<std::string> only_model_in(const target& folder) {
    if (folder.at.kind != os::file_kind::folder) return {};
    const result<std::vector<std::string>> names = names_in(folder.at.handle);
    std::vector<std::string> models;
    if (names)
      for (const std::string& name : *names)
        if (name.ends_with(".onnx") || name.ends_with(".ort")) models.push_back(name);
    return models.size() == 1 ? std::optional{models.front()} : std::nullopt;
  }

  /// Moves fields that schema 1 lacks to its metadata and executors, so that they are kept when the package is written.
  static void keep_as_schema_1(package_variant& v) {
    if (v.architecture) v.metadata = dump(json{{"architecture", *v.architecture}, {"match_architecture", true}});
    if (!v.model_file) return;
    v.executors.push_back({std::string{ort_executor}, {}, dump(json{{"model_file", *v.model_file}})});
  }

  void read_flat(const json& manifest, const place& above) {
    package_component made;
    made.name = made_.name.value_or("main");
    const place at = above / "components";
    const json* const all = first_of(&manifest, {"components"});
    for (const json& each : *all) {
      const json* const name = first_of(&each, {"variant_name"});
      read_variant(made, {name && name->is_string() ? name->get<std::string>() : std::string{}, &each}, nullptr, at);
    }
    made_.components.push_back(std::move(made));
  }

  package_reader& reader_;
  package::impl& made_;
  problem_list& problems_;
  std::unordered_set<std::string> taken_;  // "component//variant"
};

bool is_older_layout(const package::impl& in, const json& manifest) {
  if (manifest.contains("schema_version")) return false;
  return manifest.contains("component_models") || older_reader::is_flat(manifest) ||
         follow_text(in, {}, "models").at.has_kind(os::file_kind::folder);
}

void read_older(package_reader& reader, package::impl& to, problem_list& problems, const json& manifest,
                const place& at) {
  older_reader{reader, to, problems}.read(manifest, at);
}

}  // namespace CAMEO_NAMESPACE
