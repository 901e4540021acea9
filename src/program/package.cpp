#include "build/runtime.hpp"
#include "core/config_keys.hpp"
#include "file/messages.hpp"
#include "program/options.hpp"
#include "program/say.hpp"

#include <cameo/context/compatibility.hpp>
#include <cameo/format/onnx.hpp>
#include <cameo/packages.hpp>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace cameo::program {
namespace {

using json = nlohmann::ordered_json;

struct package_options {
  std::string folder, component, variant, files;  // files: the folder that --from names
  common_options common;                          // only `select` reads it: providers, policy, and variant selection
  std::vector<std::string> session_options, provider_options, others;
  std::string ep, device, model, weights, asset;
  std::optional<std::string> compatibility;
  double wait = 30;
  bool json = false, quiet = false, assets = false, dense = false, prune = false, external = false, dry_run = false;

  /// Options for opening a package to change it: other writers are locked out until it is closed.
  package_open_options to_change() const {
    package_open_options made;
    made.exclusive = true;
    made.wait = std::chrono::milliseconds{std::int64_t(wait * 1000)};
    return made;
  }
};

json optional_json(const std::optional<std::string>& text) { return text ? json(*text) : json(nullptr); }
json parsed_or_null(std::string_view text) { return text.empty() ? json(nullptr) : json::parse(text); }
json pairs_json(const package_options_list& all) {
  json made = json::object();
  for (const auto& [key, value] : all) made[key] = value;
  return made;
}

std::string_view layout_name(const package& p) {
  static constexpr std::string_view names[] = {"1.0", "metadata.json", "list of variants"};
  return names[std::size_t(p.layout())];
}

// --- show ---

json to_json(const package_variant& v) {
  json executors = json::object();
  for (const executor_info& each : v.executors) executors[each.name] = parsed_or_null(each.json);
  return {{"name", v.name},
          {"folder", v.folder.empty() ? json(nullptr) : json(v.folder)},
          {"ep", optional_json(v.ep)},
          {"device", optional_json(v.device)},
          {"compatibility_string", optional_json(v.compatibility)},
          {"architecture", optional_json(v.architecture)},
          {"model_file", optional_json(v.model_file)},
          {"session_options", pairs_json(v.session_options)},
          {"provider_options", pairs_json(v.provider_options)},
          {"executor_info", std::move(executors)},
          {"additional_metadata", parsed_or_null(v.metadata)}};
}

json to_json(const package& p) {
  json components = json::array(), assets = json::array();
  for (const package_component& c : p.components()) {
    json variants = json::array();
    for (const package_variant& v : c.variants) variants.push_back(to_json(v));
    components.push_back({{"name", c.name},
                          {"file", optional_json(c.file)},
                          {"additional_metadata", parsed_or_null(c.metadata)},
                          {"variants", std::move(variants)}});
  }
  for (const package_asset& a : p.assets()) assets.push_back({{"uri", a.uri}, {"path", a.path}});
  const auto [major, minor] = p.schema_version();
  return {{"folder", p.folder()},
          {"schema_version", major ? json(fmt::format("{}.{}", major, minor)) : json(nullptr)},
          {"older_layout", p.layout() == package_layout::schema_1 ? json(nullptr) : json(layout_name(p))},
          {"layout", p.is_installed() ? "installed" : "portable"},
          {"package_name", optional_json(p.name())},
          {"package_version", optional_json(p.version())},
          {"description", optional_json(p.description())},
          {"io", p.io() ? parsed_or_null(p.metadata())["io"] : json(nullptr)},
          {"additional_metadata", parsed_or_null(p.metadata())},
          {"components", std::move(components)},
          {"shared_assets", std::move(assets)}};
}

void print(const package& p) {
  const auto [major, minor] = p.schema_version();
  say("{}", p.name().value_or(p.folder()));
  if (p.version()) say(", version {}", *p.version());
  if (major) say(", schema {}.{}", major, minor);
  else say(", of an older layout ({})", layout_name(p));
  say("{}\n", p.is_installed() ? ", installed" : "");
  if (p.description()) say("  {}\n", *p.description());
  if (const std::optional<package_io> io = p.io()) {
    for (const package_value& v : io->inputs) say("  takes {}\n", v.text());
    for (const package_value& v : io->outputs) say("  gives {}\n", v.text());
  }
  for (const package_component& c : p.components()) {
    say("component {}{}\n", c.name, c.file ? " (" + *c.file + ")" : "");
    for (const package_variant& v : c.variants) {
      std::string facts = v.ep.value_or("no ep");
      if (v.device) facts += ", device " + *v.device;
      if (v.architecture) facts += ", architecture " + *v.architecture;
      if (v.compatibility) facts += ", '" + *v.compatibility + "'";
      if (v.model_file) facts += ", " + *v.model_file;
      if (v.folder.empty()) facts += ", no folder";
      say("  {}: {}\n", v.name, facts);
    }
  }
  for (const package_asset& a : p.assets()) say("asset {} at {}\n", a.uri, a.path);
}

int show(const package_options& o) {
  const result<package> p = package::open(o.folder);
  if (!p) return fail(p.error());
  if (o.json) print_json(to_json(*p));
  else print(*p);
  return 0;
}

// --- validate ---

/// Checks that every model can be read and that the inputs and outputs that the package declares match its models. Adds
/// problems to `to` and returns the first as the status.
status check_models(const std::string& folder, std::vector<package_problem>& to) {
  const result<package> p = package::open(folder, {.strict = false});
  if (!p) return status{p.error()};
  const auto add = [&](package_fault fault, std::string at, std::string words) {
    to.push_back({fault, true, "manifest.json", std::move(at), std::move(words)});
    return status{status_code::fail, to.back().text()}.in(folder);
  };
  std::vector<std::string> unread;
  const result<std::vector<component_io>> parts = interfaces_of(*p, default_formats::rows, &unread);
  status first;
  for (const std::string& words : unread)
    if (status s = add(package_fault::io, "/components", words); first) first = std::move(s);
  if (!first) return first;
  if (!parts) return add(package_fault::schema, "/components", std::string{parts.error().words()});
  const std::optional<package_io> declared = p->io();
  if (!declared || parts->size() != p->components().size()) return {};
  const result<connected_io> whole = connect(*parts, &*declared);
  return whole ? status{} : add(package_fault::schema, "/additional_metadata/io", std::string{whole.error().words()});
}

int validate(const package_options& o) {
  std::vector<package_problem> found;
  status done = package::validate(o.folder, {true, o.assets, true}, found);
  if (done) done = check_models(o.folder, found);
  if (o.json) {
    json problems = json::array();
    for (const package_problem& p : found)
      problems.push_back({{"severity", p.is_error ? "error" : "warning"},
                          {"kind", detail::name_of(p.fault)},
                          {"file", p.file},
                          {"at", p.at},
                          {"message", p.words}});
    print_json({{"folder", o.folder}, {"valid", bool(done)}, {"problems", std::move(problems)}});
  } else {
    for (const package_problem& p : found)
      say("{}: {}: {}\n", p.is_error ? "wrong" : "warning", detail::name_of(p.fault), p.text());
    if (done && !o.quiet) say("{}: a valid package\n", o.folder);
  }
  return done ? 0 : fail(done);
}

// --- select ---

/// The kind of a device, such as "npu"; null if no variant fits or the provider lists no devices.
json kind_json(const device_facts* device) {
  return device && !device->kind.empty() ? json(device->kind) : json(nullptr);
}

json to_json(const package_component& c, const selection& s) {
  json verdicts = json::array();
  for (const variant_verdict& v : s.verdicts)
    verdicts.push_back({{"variant", v.variant},
                        {"matches", v.matches},
                        {"score", v.score},
                        {"ep", v.ep},
                        {"device", kind_json(v.device)},
                        {"why", v.why}});
  return {{"component", c.name},
          {"variant", s.variant ? json(s.variant->name) : json(nullptr)},
          {"folder", s.variant && !s.variant->folder.empty() ? json(s.variant->folder) : json(nullptr)},
          {"model_file", s.variant ? optional_json(s.variant->model_file) : json(nullptr)},
          {"ep", s.device ? json(s.device->ep) : json(nullptr)},
          {"device", kind_json(s.device)},
          {"variants", std::move(verdicts)}};
}

/// One line for each variant. Line breaks in names are escaped.
std::string text_of(const selection& s) {
  std::string made;
  for (const variant_verdict& v : s.verdicts) {
    const bool is_chosen = s.variant && s.variant->name == v.variant;
    const std::string judged = v.matches ? fmt::format("{}, score {}", is_chosen ? "chosen" : "yes", v.score) : "no";
    made += fmt::format("{}  {}: {}: {}", made.empty() ? "" : "\n", one_line(v.variant), judged, one_line(v.why));
  }
  return made;
}

int select(const package_options& o) {
  const result<package> p = package::open(o.folder);
  if (!p) return fail(p.error());
  const result<detail::ep_intent> intent = build::runtime{}.intent(o.common.for_package());
  if (!intent) return fail(intent.error());
  std::vector<const package_component*> chosen;
  if (!o.component.empty()) {
    const result<const package_component*> one = p->component(o.component);
    if (!one) return fail(one.error());
    chosen.push_back(*one);
  } else {
    for (const package_component& c : p->components()) chosen.push_back(&c);
  }
  status first;
  json components = json::array();
  for (const package_component* c : chosen) {
    const selection made = o.common.variants()({*c, p->layout(), intent->devices, intent->is_wish});
    if (!made.variant && first) first = no_suitable_variant(*c, made, intent->devices);
    if (o.json) components.push_back(to_json(*c, made));
    else say("component {}: {}\n{}\n", c->name, made.variant ? made.variant->name : "none", as_it_is{text_of(made)});
  }
  if (o.json) print_json({{"folder", o.folder}, {"components", std::move(components)}});
  return first ? 0 : fail(first);
}

// --- add, remove ---

package_options_list pairs_of(const std::vector<std::string>& all) {
  package_options_list made;
  for (const std::string& pair : all) {
    made.push_back(split_pair(pair));
  }
  return made;
}

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional{text};
}

/// The long name of a provider of this program; any other name, unchanged.
std::string long_name_of(const std::string& name) {
  const build::runtime with;
  for (const provider& p : with.providers())
    if (p.row->name == name) return std::string{p.row->long_name};
  return name;
}

constexpr std::string_view weights_key = config_key<"session.model_external_initializers_file_folder_path">.key;

/// The folder with the external data of the variant that is being added; empty: the folder of its model.
std::string weights_for(const package& p, const package_options& o) {
  if (!o.weights.empty()) return o.weights;
  for (const auto& [key, text] : pairs_of(o.session_options)) {
    if (key != weights_key) continue;
    const result<std::string> in_package = p.resolve({}, text, true);
    return in_package && text.starts_with("sha256:") ? *in_package : o.files + "/" + text;
  }
  return {};
}

/// The inputs and outputs of the package's components, including the variant that is being added. Models that cannot be
/// read are listed in `unread`.
result<std::vector<component_io>> interfaces_with(const package& p, const package_options& o,
                                                  std::vector<std::string>& unread) {
  result<std::vector<component_io>> parts = interfaces_of(p, default_formats::rows, &unread);
  if (!parts || o.model.empty() || o.files.empty()) return parts;
  const result<package_io> own = interface_of_file(o.files + "/" + o.model, default_formats::rows, weights_for(p, o));
  if (!own) {
    unread.push_back(fmt::format("component '{}', variant '{}': {}", o.component, o.variant, own.error().words()));
    return parts;
  }
  for (component_io& each : *parts)
    if (each.component == o.component) {
      if (status same = same_interface(each.io, *own); !same)
        return std::move(same).in(fmt::format("component '{}', variant '{}' and those before", o.component, o.variant));
      return parts;
    }
  std::size_t at = 0;  // the component's position among those with known inputs and outputs
  for (const package_component& c : p.components())
    if (c.name != o.component && at < parts->size() && (*parts)[at].component == c.name) ++at;
    else if (c.name == o.component) break;
  parts->insert(parts->begin() + std::ptrdiff_t(at), {o.component, *own});
  return parts;
}

/// Declares the inputs and outputs of the whole package, if they can be derived from its models; otherwise removes a
/// previous declaration. A declaration that still matches is not replaced if the components did not change.
status declare_io(package& p, const package_options& o, bool same_components) {
  std::vector<std::string> unread;
  const result<std::vector<component_io>> parts = interfaces_with(p, o, unread);
  if (!parts) return status{parts.error()};
  const std::optional<package_io> declared = p.io();
  std::string why;
  for (const std::string& words : unread) why += fmt::format("{}{}", why.empty() ? "" : "; ", words);
  if (parts->size() == p.components().size() && !parts->empty()) {
    if (same_components && declared && connect(*parts, &*declared)) return {};
    const result<connected_io> whole = connect(*parts);
    if (whole) return p.set_io(whole->io);
    why = whole.error().words();
  }
  if (!o.quiet && !why.empty())
    say(stderr, "{}: inputs and outputs of the whole package are not declared: {}\n", o.folder, why);
  return declared ? p.set_io(std::nullopt) : status{};
}

/// The compatibility string of --compatibility, else that of a compiled model; nullopt for other models.
std::optional<std::string> compatibility_for(const package& p, const package_options& o, const package_variant& v) {
  if (o.compatibility) return unless_empty(*o.compatibility);
  if (!v.ep || !v.model_file || o.files.empty()) return {};
  read_options how;
  how.external_data_folder = weights_for(p, o);
  const result<std::unique_ptr<model>> compiled = read_onnx(o.files + "/" + *v.model_file, how);
  return compiled ? compatibility_of(**compiled, *v.ep) : std::nullopt;
}

/// Returns INVALID_ARGUMENT if --model is given without --from and the package does not contain the file.
status check_model(const package& p, const package_options& o) {
  if (o.model.empty() || !o.files.empty()) return {};
  if (o.model.starts_with("sha256:")) return {};  // add_variant() checks it
  const std::string base = p.find(o.component)->base;
  const result<std::string> there = p.resolve(base, o.variant + "/" + o.model, true);
  if (there) return {};
  return failed(status_code::invalid_argument, "--model {}: {}; give the model's folder with --from", o.model,
                there.error().words());
}

status add_to(package& p, const package_options& o) {
  const bool is_new = !p.find(o.component);
  if (is_new)
    if (status s = p.add_component(o.component, o.external); !s) return s;
  if (status s = check_model(p, o); !s) return s;
  package_variant v;
  v.name = o.variant;
  if (!o.ep.empty()) v.ep = long_name_of(o.ep);
  v.device = unless_empty(o.device);
  v.model_file = unless_empty(o.model);
  v.compatibility = compatibility_for(p, o, v);
  v.session_options = pairs_of(o.session_options);
  if (!o.weights.empty()) {
    result<std::string> uri = p.add_asset(o.weights);
    if (!uri) return std::move(uri).error();
    v.session_options.emplace_back(weights_key, *uri);
  }
  v.provider_options = pairs_of(o.provider_options);
  if (status s = p.add_variant(o.component, std::move(v), o.files); !s) return s;
  return declare_io(p, o, !is_new);
}

void print_pruned(const std::vector<std::string>& paths, const char* done = "deleted") {
  for (const std::string& path : paths) say("{} {}\n", done, path);
}

void report_change(const package_options& o, const char* done, const std::vector<std::string>& pruned) {
  if (o.json)
    print_json({{"folder", o.folder},
                {"component", o.component},
                {"variant", o.variant.empty() ? json(nullptr) : json(o.variant)},
                {"pruned", pruned}});
  if (o.json || o.quiet) return;
  say("{}: {} {}{}{}\n", o.folder, done, o.component, o.variant.empty() ? "" : "/", o.variant);
  print_pruned(pruned);
}

/// Opens the package, or creates one if the folder is missing or empty, applies `edit` to it, and writes it.
template <class Edit>
status change(const package_options& o, Edit edit) {
  const package_form form = o.dense ? package_form::dense : package_form::preserve;
  while (true) {
    std::error_code ignored;
    const std::filesystem::path folder{o.folder};
    const bool is_new = !std::filesystem::exists(folder, ignored) || std::filesystem::is_empty(folder, ignored);
    result<package> p =
        is_new ? package::make(folder.lexically_normal().filename().string()) : package::open(o.folder, o.to_change());
    if (!p) return std::move(p).error();
    if (status s = edit(*p); !s) return s;
    if (!is_new) return p->commit(form);
    status saved = p->save_as(o.folder, form);
    // If another process has created the package in the meantime, the edit is applied to that one.
    if (saved || !std::filesystem::exists(folder / "manifest.json", ignored)) return saved;
  }
}

int add(const package_options& o) {
  if (status s = change(o, [&](package& p) { return add_to(p, o); }); !s) return fail(s);
  report_change(o, "added", {});
  return 0;
}

int remove(const package_options& o) {
  result<package> p = package::open(o.folder, o.to_change());
  if (!p) return fail(p.error());
  if (status s = o.variant.empty() ? p->remove_component(o.component) : p->remove_variant(o.component, o.variant); !s)
    return fail(s);
  if (status s = declare_io(*p, o, !o.variant.empty()); !s) return fail(s);
  if (status s = p->commit(o.dense ? package_form::dense : package_form::preserve); !s) return fail(s);
  std::vector<std::string> pruned;
  if (o.prune) {
    result<std::vector<std::string>> gone = p->prune(false, o.assets);
    if (!gone) return fail(gone.error());
    pruned = *std::move(gone);
  }
  report_change(o, "removed", pruned);
  return 0;
}

int prune(const package_options& o) {
  result<package> p = package::open(o.folder, o.dry_run ? package_open_options{} : o.to_change());
  if (!p) return fail(p.error());
  const result<std::vector<std::string>> gone = p->prune(o.dry_run, o.assets);
  if (!gone) return fail(gone.error());
  if (o.json) print_json({{"folder", o.folder}, {"pruned", *gone}, {"dry_run", o.dry_run}});
  else if (!o.quiet) print_pruned(*gone, o.dry_run ? "would delete" : "deleted");
  return 0;
}

/// Adds or removes a shared asset, and prints its URI, which variants refer to.
int asset(const package_options& o) {
  std::string uri = o.asset;
  const bool is_removed = o.asset.starts_with("sha256:");
  const auto edit = [&](package& p) -> status {
    if (is_removed) return p.remove_asset(o.asset);
    result<std::string> made = p.add_asset(o.asset);
    if (!made) return std::move(made).error();
    return uri = *std::move(made), status{};
  };
  if (status s = change(o, edit); !s) return fail(s);
  if (o.json) print_json({{"folder", o.folder}, {"uri", uri}});
  else if (!o.quiet) say("{}\n", uri);
  return 0;
}

// --- merge ---

/// Adds the shared assets of another package, and its variants with their files. A variant that exists is an error.
status add_all(package& to, const package& from) {
  for (const package_asset& asset : from.assets()) {
    const result<std::string> folder = from.resolve({}, asset.uri, true);
    if (!folder) return status{folder.error()};
    if (const result<std::string> added = to.add_asset(*folder, asset.uri); !added) return status{added.error()};
  }
  for (const package_component& c : from.components()) {
    if (!to.find(c.name))
      if (status s = to.add_component(c.name, c.file.has_value()); !s) return s;
    for (const package_variant& v : c.variants) {
      package_variant copy = v;
      copy.directory = {}, copy.folder = {};
      std::string folder;
      if (!v.folder.empty()) {
        const result<std::string> there = from.resolve({}, v.folder, true);
        if (!there) return status{there.error()};
        folder = *there;
      }
      if (status s = to.add_variant(c.name, std::move(copy), folder); !s) return s;
    }
  }
  return {};
}

int merge(const package_options& o) {
  std::vector<package> others;
  for (const std::string& folder : o.others) {
    result<package> opened = package::open(folder);
    if (!opened) return fail(opened.error());
    others.push_back(std::move(*opened));
  }
  const auto all = [&](package& to) -> status {
    for (const package& from : others)
      if (status s = add_all(to, from); !s) return std::move(s).in(from.folder());
    return {};
  };
  if (status s = change(o, all); !s) return fail(s);
  // The inputs and outputs of the whole are derived in a second change, since the models are then in this package.
  if (status s = change(o, [&](package& p) { return declare_io(p, o, false); }); !s) return fail(s);
  if (o.json) print_json({{"folder", o.folder}, {"merged", o.others}});
  else if (!o.quiet)
    for (const std::string& each : o.others) say("{}: merged {}\n", o.folder, each);
  return 0;
}

void add_pairs(const command& it, const char* name, std::vector<std::string>& to, const char* words) {
  it.add_each(
        name, [&to](const std::string& pair) { to.push_back(pair); }, words)
      .type_name("KEY=VALUE")
      .check(key_and_value());
}

using shared_options = std::shared_ptr<package_options>;

command add_action(const command& package, const char* name, const char* words, const shared_options& o,
                   int (*does)(const package_options&)) {
  const command it = package.add_command(name, words);
  it.add("DIR", o->folder, "Folder of the package").required();
  const command output = it.group("Output");
  output.add_flag("--json", o->json, "One JSON object on standard output, nothing else there");
  output.add_flag("--quiet", o->quiet, "Prints errors and requested results only");
  it.does([o, does] { return does(*o); });
  return it;
}

/// add_action() for an action that changes a package: adds --wait.
command add_change(const command& package, const char* name, const char* words, const shared_options& o,
                   int (*does)(const package_options&)) {
  const command it = add_action(package, name, words, o, does);
  it.add("--wait", o->wait, "Seconds to wait while another process changes the package (30)")
      .type_name("S")
      .range(0.0, 1e6);
  return it;
}

void add_add(const command& package, const shared_options& o) {
  const command it = add_change(package, "add",
                                "Adds a variant with the files of a folder; a package or a component that does not "
                                "exist is created",
                                o, add);
  it.add("COMPONENT", o->component, "Component that gets the variant").required();
  it.add("VARIANT", o->variant, "Name of the variant").required();
  it.add("--from", o->files, "Folder whose files become the variant's").type_name("FOLDER");
  it.add("--model", o->model, "Model file, below the folder, or in a shared asset (sha256:.../FILE)").type_name("FILE");
  it.add("--ep", o->ep, "Execution provider that runs it, short or long name").type_name("NAME");
  it.add("--device", o->device, "cpu, gpu or npu (default: any)").one_of({"cpu", "gpu", "npu"});
  it.add("--compatibility", o->compatibility,
         "Compatibility string, for the provider (default: the one in a compiled model)")
      .type_name("TEXT");
  it.add("--weights", o->weights,
         "Folder with the model's external data: becomes a shared asset, stored once for all variants that use it")
      .type_name("FOLDER");
  add_pairs(it, "--session-option", o->session_options, "Session option of the variant; repeatable");
  add_pairs(it, "--provider-option", o->provider_options, "Provider option of the variant; repeatable");
  it.add_flag("--external", o->external, "A new component gets a separate folder, with component.json")
      .excludes(it.add_flag("--dense", o->dense, "All components into manifest.json"));
}

}  // namespace

void add_package(command_line& app) {
  const command package = app.add_command(
      "package", "Model packages: folders that hold a model in several variants, of which the best for a machine runs");
  const auto o = std::make_shared<package_options>();
  add_action(package, "show", "Shows what is in a package", o, show);
  const command validating = add_action(package, "validate", "Lists all problems of a package", o, validate);
  validating.add_flag("--assets", o->assets, "Hash every shared asset, too");
  const command selecting = add_action(
      package, "select", "Shows which variant 'run' would choose here with the same options, and why not the others", o,
      select);
  selecting.add("COMPONENT", o->component, "One component (default: all of them)");
  add_ep_option(selecting, o->common);
  add_policy_option(selecting, o->common);
  add_ranked_option(selecting, o->common);
  add_add(package, o);
  const command merging = add_change(package, "merge",
                                     "Adds the contents of other packages: components, variants with their files, "
                                     "shared assets. A variant that exists already is an error; a package that does "
                                     "not exist is created",
                                     o, merge);
  merging.add("FROM", o->others, "Folders of the other packages").required();
  merging.add_flag("--dense", o->dense, "All components into manifest.json");
  const command removing = add_change(package, "remove", "Removes a variant, or a component", o, remove);
  removing.add("COMPONENT", o->component, "Component").required();
  removing.add("VARIANT", o->variant, "Variant (default: the whole component)");
  removing.add_flag("--prune", o->prune, "Delete the files that nothing refers to any more, too");
  removing.add_flag("--assets", o->assets, "With --prune: shared assets that nothing refers to, too");
  removing.add_flag("--dense", o->dense, "All components into manifest.json");
  const command pruning = add_change(package, "prune", "Deletes the files that nothing refers to any more", o, prune);
  pruning.add_flag("--assets", o->assets, "Shared assets that nothing refers to, too");
  pruning.add_flag("--dry-run", o->dry_run, "Prints what it would delete, and deletes nothing");
  const command sharing = add_change(
      package, "asset", "Adds the files of a folder as a shared asset, and prints its URI for variants", o, asset);
  sharing.add("FOLDER", o->asset, "Folder; or sha256:..., a shared asset to remove from the package").required();
}

}  // namespace cameo::program
