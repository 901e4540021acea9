#include <cameo/core/device_kind.hpp>

#include "core/config_keys.hpp"
#include "file/messages.hpp"
#include "package/impl.hpp"

#include <algorithm>
#include <charconv>

namespace CAMEO_NAMESPACE {
namespace {

constexpr std::size_t most_problems = 1000;

constexpr std::string_view manifest_fields[] = {
    "schema_version", "package_name", "package_version", "description",
    "layout",         "components",   "shared_assets",   "additional_metadata"};
constexpr std::string_view component_fields[] = {"variants", "component_name", "additional_metadata"};
constexpr std::string_view variant_fields[] = {
    "variant_directory", "ep", "device", "compatibility_string", "executor_info", "additional_metadata"};
/// Keys that a package must not set, because a session would write files or record runs.
constexpr std::string_view forbidden_keys[] = {
    config_key<"session.optimized_model_filepath">.key, config_key<"session.enable_profiling">.key,
    config_key<"session.debug_layout_transformation">.key, config_key<"session.collect_node_memory_stats_to_file">.key,
    config_key<"ep.context_enable">.key};
constexpr std::string_view path_keys[] = {config_key<"session.model_external_initializers_file_folder_path">.key,
                                          config_key<"ep.context_file_path">.key,
                                          config_key<"ep.context_source_model_path">.key};

template <class Range>
bool is_one_of(std::string_view text, const Range& of) {
  return std::find(std::begin(of), std::end(of), text) != std::end(of);
}

/// The value of a text of decimal digits; -1 for any other text, and for numbers beyond int.
int whole_number(std::string_view text) {
  int made = -1;
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos) return -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), made);
  return error == std::errc{} && end == text.data() + text.size() ? made : -1;
}

std::string_view kind_of(const json& value) {
  switch (value.type()) {
    case json::value_t::object: return "an object";
    case json::value_t::array: return "an array";
    case json::value_t::string: return "a text";
    case json::value_t::boolean: return "true or false";
    case json::value_t::null: return "null";
    default: return "a number";
  }
}

}  // namespace

std::string_view detail::name_of(package_fault fault) {
  static constexpr std::string_view names[] = {"none",        "io",        "schema",    "version",
                                               "confinement", "not_found", "integrity", "argument"};
  return names[std::size_t(fault)];
}

std::string package_problem::text() const {
  std::string made = file;
  if (!at.empty()) made += (made.empty() ? "" : ": ") + at;
  return made.empty() ? words : made + ": " + words;
}

void problem_list::add(package_fault fault, const place& where, std::string words, bool is_error) {
  errors_ += is_error;
  if (all_.size() == most_problems) all_.push_back({fault, is_error, {}, {}, "and more"});
  if (all_.size() > most_problems) return;
  all_.push_back({fault, is_error, std::string{where.file}, where.pointer(), std::move(words)});
}

const package_problem* problem_list::first_error() const {
  const auto at = std::find_if(all_.begin(), all_.end(), [](const package_problem& p) { return p.is_error; });
  return at == all_.end() ? nullptr : &*at;
}

/// Adds an error unless a value is an object.
bool package_reader::require_object(const json& value, const place& at) {
  if (value.is_object()) return true;
  problems_.add(package_fault::schema, at, fmt::format("needs an object, not {}", kind_of(value)));
  return false;
}

bool package_reader::read() {
  const place top{manifest_file};
  const std::optional<json_document> manifest = load(std::string{manifest_file}, {{}});
  if (!manifest || !require_object(*manifest, top)) return false;
  if (is_older_layout(made_, *manifest)) read_older(*this, made_, problems_, *manifest, top);
  else read_manifest(*manifest, top);
  for (const package_asset& a : made_.assets) note(a.uri), note(a.path);
  for (const package_component& c : made_.components)
    for (const package_variant& v : c.variants) note(v.folder);
  return !problems_.failed();
}

void package_reader::note(std::string_view text) {
  made_.state = made_.state * 0x9E3779B97F4A7C15u + std::hash<std::string_view>{}(text);
}

/// True for a valid name without folders that is not an asset. The last one is kept, because the model files of
/// variants often have the same name.
bool package_reader::is_plain_name(std::string_view text) {
  if (!text.empty() && text == plain_name_) return true;
  if (text.find('/') != text.npos || text == "." || as_asset(text) || !malformed(package_path, text).empty())
    return false;
  plain_name_ = text;
  return true;
}

/// Does the same as follow_text with fewer system calls if many names are in one folder: the folder is listed once, and
/// files and folders in the listing are not opened. Links and other entries are followed. Files in the folders of a
/// listing are only checked by validation, because that takes a system call for each of them, and whoever reads a file
/// follows its path again.
target package_reader::follow(std::string_view base, std::string_view text) {
  if (made_.installed || !made_.root || !is_plain_name(text)) return follow_text(made_, base, text);
  target made;
  made.path = joined(base, text);
  const std::string_view above = parent_of(base), name = above.empty() ? base : base.substr(above.size() + 1);
  const auto around = base.empty() ? folders_.end() : folders_.find(std::string{above});
  if (around != folders_.end() && around->second.is_listed) {
    const auto folder = around->second.entries.find(std::string{name});
    if (folder == around->second.entries.end()) return made;
    return folder->second == os::file_kind::folder && !extent_.paths ? std::move(made) : follow_text(made_, base, text);
  }
  const listed_folder* const beside = listed(base);
  if (!beside) return follow_text(made_, base, text);
  const auto at = beside->entries.find(made.path.substr(made.path.size() - text.size()));
  if (at == beside->entries.end()) return made;
  if (at->second != os::file_kind::file && at->second != os::file_kind::folder) return follow_text(made_, base, text);
  made.at.kind = at->second;
  return made;
}

/// The listing of a folder in which many names are looked up; null for other folders.
const package_reader::listed_folder* package_reader::listed(std::string_view base) {
  static constexpr int few = 256;
  listed_folder& made = folders_[std::string{base}];
  if (++made.requests == few) {
    const target to = follow_text(made_, {}, base.empty() ? "." : base, open_for::reading);
    made.is_listed = to.at.has_kind(os::file_kind::folder) && list_folder(to.at.handle, made.entries);
  }
  return made.is_listed ? &made : nullptr;
}

/// Reads and parses a file. `named_at` is the location that names it, for the error that it does not exist.
std::optional<json_document> package_reader::load(const std::string& file, const place& named_at) {
  target to = follow_text(made_, {}, file, open_for::reading);
  if (to.fault != package_fault::none) return problems_.add(to.fault, named_at, to.words), std::nullopt;
  if (to.at.kind != os::file_kind::file)
    return problems_.add(package_fault::not_found, named_at, fmt::format("there is no file '{}'", file)), std::nullopt;
  const place whole{file};
  result<std::string> text = read_text(to.at.handle, most_json_bytes);
  if (!text) return problems_.add(package_fault::io, whole, std::string{text.error().words()}), std::nullopt;
  note(*text);
  bytes_ += text->size();
  parsed_json parsed = bytes_ > most_json_bytes ? parsed_json{} : parse_json(*text);
  values_ += parsed.values;
  if (bytes_ > most_json_bytes || values_ > most_json_values)
    parsed.error = fmt::format("with it the package has more than {} bytes of JSON, or {} values in it",
                               most_json_bytes, most_json_values);
  if (!parsed.error.empty()) return problems_.add(package_fault::schema, whole, parsed.error), std::nullopt;
  return json_document{std::move(parsed.value)};
}

std::optional<std::string> package_reader::text_of(const json& object, std::string_view field, const place& at) {
  const auto found = object.find(field);
  if (found == object.end() || found->is_null()) return {};
  if (found->is_string()) return found->get<std::string>();
  problems_.add(package_fault::schema, at / field, fmt::format("needs a text, not {}", kind_of(*found)));
  return {};
}

/// Returns the fields that schema 1.0 does not have. They are errors or warnings, unless the package has a later minor
/// version.
std::string package_reader::unknown_of(const json& object, std::span<const std::string_view> known, const place& at) {
  json kept;
  for (const auto& [key, value] : members_of(object)) {
    if (is_one_of(key, known)) continue;
    if (kept.is_null()) kept = json::object();
    append(kept, key, value);
    if (made_.minor == 0 && (made_.options.strict || extent_.unknown_fields))
      problems_.add(package_fault::schema, at / key, fmt::format("schema 1.0 has no field '{}' here", key),
                    made_.options.strict);
  }
  return kept.is_null() ? std::string{} : dump(kept);
}

void package_reader::read_manifest(const json& manifest, const place& at) {
  read_version(manifest, at);
  if (problems_.failed()) return;  // other schemas have other fields
  made_.name = text_of(manifest, "package_name", at);
  made_.version = text_of(manifest, "package_version", at);
  made_.description = text_of(manifest, "description", at);
  if (const auto found = manifest.find("additional_metadata"); found != manifest.end()) made_.metadata = dump(*found);
  if (bool is_there = false; !read_io(made_.metadata, is_there) && is_there)
    problems_.add(package_fault::schema, at / "additional_metadata" / "io",
                  "is not in cameo's format: lists of inputs and outputs with name, type and shape", false);
  made_.unknown = unknown_of(manifest, manifest_fields, at);
  read_layout(manifest, at);
  read_assets(manifest, at);
  find_assets();
  read_components(manifest, at);
}

void package_reader::read_version(const json& manifest, const place& at) {
  const auto found = manifest.find("schema_version");
  const place here = at / "schema_version";
  if (found == manifest.end()) return problems_.add(package_fault::schema, at, "has no schema_version");
  std::string text;
  if (found->is_number_integer()) text = dump(*found);
  else if (found->is_string()) text = found->get<std::string>();
  const std::size_t dot = std::min(text.find('.'), text.size());
  made_.major = whole_number(std::string_view{text}.substr(0, dot));
  made_.minor = dot == text.size() ? 0 : whole_number(std::string_view{text}.substr(dot + 1));
  if (made_.major < 0 || made_.minor < 0)
    return problems_.add(package_fault::schema, here,
                         fmt::format("needs a text like \"1.0\", or a whole number, not {}", dump(*found)));
  if (made_.major != 1)
    problems_.add(
        package_fault::version, here,
        fmt::format("the package has schema {}.{}; this version of cameo reads version 1", made_.major, made_.minor));
}

void package_reader::read_layout(const json& manifest, const place& at) {
  const std::string layout = text_of(manifest, "layout", at).value_or("portable");
  made_.installed = layout == "installed";
  if (!made_.installed && layout != "portable")
    problems_.add(package_fault::schema, at / "layout",
                  fmt::format("needs \"portable\" or \"installed\", not \"{}\"", layout));
}

void package_reader::read_assets(const json& manifest, const place& above) {
  const auto found = manifest.find("shared_assets");
  if (found == manifest.end()) return;
  const place at = above / "shared_assets";
  if (!require_object(*found, at)) return;
  for (const auto& [uri, value] : members_of(*found)) {
    const place here = at / uri;
    const std::optional<asset_reference> asset = as_asset(uri);
    if (!asset || asset->has_tail) {
      problems_.add(package_fault::schema, here, "needs a name of \"sha256:\" and 64 lower-case hexadecimal digits");
      continue;
    }
    if (!value.is_string()) {
      problems_.add(package_fault::schema, here, fmt::format("needs a text, not {}", kind_of(value)));
      continue;
    }
    const target to = follow_text(made_, {}, value.get_ref<const std::string&>());
    if (to.fault != package_fault::none) problems_.add(to.fault, here, to.words);
    else if (to.at.kind != os::file_kind::folder)
      problems_.add(package_fault::not_found, here, fmt::format("there is no folder '{}'", to.path));
    else made_.assets.add({uri, to.path, true});
  }
}

void package_reader::read_components(const json& manifest, const place& above) {
  const auto found = manifest.find("components");
  if (found == manifest.end()) return problems_.add(package_fault::schema, above, "has no components");
  const place at = above / "components";
  if (!require_object(*found, at)) return;
  for (const auto& [name, value] : members_of(*found)) read_component_reference(name, value, at / name);
}

void package_reader::read_component_reference(const std::string& name, const json& value, const place& at) {
  package_component made;
  made.name = name;
  if (name.empty()) problems_.add(package_fault::schema, at, "a component needs a name");
  if (value.is_object()) return read_component(std::move(made), value, at);
  if (!value.is_string())
    return problems_.add(package_fault::schema, at, fmt::format("needs an object or a path, not {}", kind_of(value)));
  const std::string& text = value.get_ref<const std::string&>();
  const target to = follow_text(made_, {}, text);
  if (to.fault != package_fault::none) return problems_.add(to.fault, at, to.words);
  if (to.at.kind == os::file_kind::nothing)
    return problems_.add(package_fault::not_found, at, fmt::format("there is nothing at '{}'", text));
  std::string path = to.path;
  while (path.ends_with('/')) path.pop_back();
  made.file = to.at.kind == os::file_kind::folder ? joined(path, component_file) : path;
  made.base = std::string{parent_of(*made.file)};
  const std::optional<json_document> body = load(*made.file, at);
  if (!body) return;
  const std::string file = *made.file;
  const place whole{file};
  if (require_object(*body, whole)) read_component(std::move(made), *body, whole);
}

void package_reader::read_component(package_component made, const json& body, const place& at) {
  made.component_name = text_of(body, "component_name", at);
  if (const auto found = body.find("additional_metadata"); found != body.end()) made.metadata = dump(*found);
  made.unknown = unknown_of(body, component_fields, at);
  const auto variants = body.find("variants");
  if (variants == body.end()) return problems_.add(package_fault::schema, at, "has no variants");
  const place here = at / "variants";
  if (!require_object(*variants, here)) return;
  made.variants.reserve(variants->size());
  for (const auto& [name, value] : members_of(*variants)) read_variant(made, name, value, here / name);
  made_.components.push_back(std::move(made));
}

void package_reader::read_variant(package_component& in, const std::string& name, const json& body, const place& at) {
  if (!require_object(body, at)) return;
  package_variant made;
  made.name = name;
  if (name.empty()) problems_.add(package_fault::schema, at, "a variant needs a name");
  made.directory = text_of(body, "variant_directory", at);
  made.ep = text_of(body, "ep", at);
  made.device = text_of(body, "device", at);
  made.compatibility = text_of(body, "compatibility_string", at);
  if (const auto found = body.find("additional_metadata"); found != body.end()) {
    made.metadata = dump(*found);
    // The field is only used if the package was converted from an older layout, in which it was a constraint.
    if (found->is_object() && found->value("match_architecture", json{}) == json(true))
      if (const auto hint = found->find("architecture"); hint != found->end() && hint->is_string())
        made.architecture = hint->get<std::string>();
  }
  made.unknown = unknown_of(body, variant_fields, at);
  const place named = made.directory ? at / "variant_directory" : at;
  const target to = follow(in.base, made.directory ? *made.directory : name);
  if (to.fault != package_fault::none) return problems_.add(to.fault, named, to.words);
  in_listed_folder_ = to.at.kind == os::file_kind::folder && !to.at.handle;
  if (to.at.kind == os::file_kind::folder) made.folder = to.path;
  else if (made.directory)
    return problems_.add(package_fault::not_found, named, fmt::format("there is no folder '{}'", to.path));
  if (const auto found = body.find("executor_info"); found != body.end())
    read_executors(made, to.path, *found, at / "executor_info");
  check_variant(made, to.path, at);
  in.variants.push_back(std::move(made));
}

void package_reader::read_executors(package_variant& to, const std::string& folder, const json& all, const place& at) {
  if (!require_object(all, at)) return;
  for (const auto& [name, value] : members_of(all)) {
    const place here = at / name;
    executor_info made{name, {}, {}};
    if (value.is_object()) {
      made.json = dump(value);
      if (name == ort_executor) read_ort(to, folder, value, here);
    } else if (value.is_string()) {
      made.file = value.get<std::string>();
      const target file = follow_text(made_, folder, *made.file);
      if (file.fault != package_fault::none) {
        problems_.add(file.fault, here, file.words);
        continue;
      }
      const std::optional<json_document> payload = load(file.path, here);
      if (!payload) continue;
      made.json = dump(*payload);
      if (name == ort_executor) read_ort(to, folder, *payload, {file.path});
    } else {
      problems_.add(package_fault::schema, here, fmt::format("needs an object or a path, not {}", kind_of(value)));
      continue;
    }
    to.executors.push_back(std::move(made));
  }
}

void package_reader::read_ort(package_variant& to, const std::string& folder, const json& payload, const place& at) {
  if (!require_object(payload, at)) return;
  to.model_file = text_of(payload, "model_file", at);
  read_options(to.session_options, payload, "session_options", at);
  read_options(to.provider_options, payload, "provider_options", at);
  check_session_options(to, folder, at / "session_options");
  if (to.model_file) check_model_file(to, folder, at / "model_file");
}

void package_reader::read_options(package_options_list& to, const json& payload, std::string_view field,
                                  const place& above) {
  const auto found = payload.find(field);
  if (found == payload.end()) return;
  const place at = above / field;
  if (!require_object(*found, at)) return;
  for (const auto& [key, value] : members_of(*found)) {
    if (value.is_string()) to.emplace_back(key, value.get<std::string>());
    else problems_.add(package_fault::schema, at / key, fmt::format("needs a text, not {}", kind_of(value)));
  }
}

void package_reader::check_session_options(package_variant& to, const std::string& folder, const place& at) {
  for (auto& [key, value] : to.session_options) {
    if (is_one_of(key, forbidden_keys))
      problems_.add(package_fault::schema, at / key,
                    fmt::format("variant '{}': a package may not set '{}'", to.name, key));
    if (!is_one_of(key, path_keys)) continue;
    to.option_paths.emplace_back(key, value);
    const target found = follow_text(made_, folder, value);
    if (found.fault != package_fault::none) problems_.add(found.fault, at / key, found.words);
    else if (extent_.paths && key == path_keys[0] && found.at.kind != os::file_kind::folder)
      problems_.add(package_fault::not_found, at / key, fmt::format("there is no folder '{}'", found.path));
    else value = joined(made_.root_path(), found.path);
  }
}

void package_reader::check_model_file(const package_variant& v, const std::string& folder, const place& at) {
  // For such a file, opening only checks the name, as follow() does; validation checks whether it exists.
  if (in_listed_folder_ && !extent_.paths && is_plain_name(*v.model_file)) return;
  const target to = follow(folder, *v.model_file);
  if (to.fault != package_fault::none) problems_.add(to.fault, at, to.words);
  else if (extent_.paths && to.at.kind != os::file_kind::file)
    problems_.add(package_fault::not_found, at, fmt::format("there is no file '{}'", to.path));
}

/// Adds an error for folders whose names differ only in case, because systems that ignore case can't have both.
void package_reader::check_case(std::string_view path, const place& at) {
  for (; !path.empty() && path != "/"; path = parent_of(path)) {
    const auto [other, is_new] = spelled_.try_emplace(without_case(path), path);
    if (!is_new && other->second != path)
      return problems_.add(
          package_fault::schema, at,
          fmt::format("some systems take the folders '{}' and '{}' for the same", other->second, path));
  }
}

/// Adds errors and warnings that opening ignores and validation reports.
void package_reader::check_variant(const package_variant& v, const std::string& folder, const place& at) {
  if (!extent_.paths) return;
  if (!made_.installed) check_case(folder, at);
  const bool is_in_asset = v.model_file && as_asset(*v.model_file);  // then the variant needs no folder
  if (v.folder.empty() && !is_in_asset)
    problems_.add(package_fault::not_found, at, fmt::format("there is no folder '{}'", folder));
  if (!v.ep) problems_.add(package_fault::schema, at, "has no ep, so that it is never selected", false);
  if (!v.model_file)
    problems_.add(package_fault::schema, at, "has no model_file, so that no session can be loaded", false);
  if (v.device && !detail::device_kind_named(*v.device))
    problems_.add(package_fault::schema, at / "device", fmt::format("there is no kind of device '{}'", *v.device),
                  false);
}

}  // namespace CAMEO_NAMESPACE
