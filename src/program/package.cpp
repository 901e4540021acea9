#include "program/options.hpp"
#include "program/runtime.hpp"

#include <cameo/package/select.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace cameo::program {
namespace {

using json = nlohmann::ordered_json;

struct package_options {
  std::string folder, component, variant, from;
  common_options common;  // providers and policy of select, and nothing else
  std::vector<std::string> session_options, provider_options;
  std::string ep, device, model;
  std::optional<std::string> compatibility;
  bool json = false, quiet = false, ranked = false, assets = false, dense = false, prune = false;
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
  fmt::print("{}", one_line(p.name().value_or(p.folder())));
  if (p.version()) fmt::print(", version {}", one_line(*p.version()));
  if (major) fmt::print(", schema {}.{}", major, minor);
  else fmt::print(", of an older layout ({})", layout_name(p));
  fmt::print("{}\n", p.is_installed() ? ", installed" : "");
  if (p.description()) fmt::print("  {}\n", one_line(*p.description()));
  if (const std::optional<package_io> io = p.io()) {
    for (const package_value& v : io->inputs) fmt::print("  takes {}\n", one_line(v.text()));
    for (const package_value& v : io->outputs) fmt::print("  gives {}\n", one_line(v.text()));
  }
  for (const package_component& c : p.components()) {
    fmt::print("component {}{}\n", one_line(c.name), c.file ? " (" + one_line(*c.file) + ")" : "");
    for (const package_variant& v : c.variants) {
      std::string facts = v.ep.value_or("no ep");
      if (v.device) facts += ", device " + *v.device;
      if (v.architecture) facts += ", architecture " + *v.architecture;
      if (v.compatibility) facts += ", '" + *v.compatibility + "'";
      if (v.model_file) facts += ", " + *v.model_file;
      if (v.folder.empty()) facts += ", no folder";
      fmt::print("  {}: {}\n", one_line(v.name), one_line(facts));
    }
  }
  for (const package_asset& a : p.assets()) fmt::print("asset {} at {}\n", a.uri, one_line(a.path));
}

int show(const package_options& o) {
  const result<package> p = package::open(o.folder);
  if (!p) return fail(p.error());
  if (o.json) print_json(to_json(*p));
  else print(*p);
  return 0;
}

// --- validate ---

/// What a package says that it takes and gives, against its models.
status check_models(const std::string& folder, std::vector<package_problem>& to) {
  const result<package> p = package::open(folder, {.strict = false});
  if (!p) return status{p.error()};
  const auto add = [&](bool is_error, std::string at, std::string words) {
    to.push_back({package_fault::schema, is_error, "manifest.json", std::move(at), std::move(words)});
    return is_error ? status{status_code::fail, to.back().text()}.in(folder) : status{};
  };
  std::vector<std::string> unread;
  const result<std::vector<component_io>> parts = interfaces_of(*p, default_formats::rows, &unread);
  if (!parts) return add(true, "/components", std::string{parts.error().words()});
  for (const std::string& words : unread) static_cast<void>(add(false, "/components", words));
  const std::optional<package_io> declared = p->io();
  if (!declared || parts->size() != p->components().size()) return {};
  const result<connected_io> whole = connect(*parts, &*declared);
  return whole ? status{} : add(true, "/additional_metadata/io", std::string{whole.error().words()});
}

int validate(const package_options& o) {
  std::vector<package_problem> found;
  status done = package::validate(o.folder, {true, o.assets, true}, found);
  if (done) done = check_models(o.folder, found);
  if (o.json) {
    json problems = json::array();
    for (const package_problem& p : found)
      problems.push_back({{"severity", p.is_error ? "error" : "warning"},
                          {"kind", name_of(p.fault)},
                          {"file", p.file},
                          {"at", p.at},
                          {"message", p.words}});
    print_json({{"folder", o.folder}, {"valid", bool(done)}, {"problems", std::move(problems)}});
  } else {
    for (const package_problem& p : found)
      fmt::print("{}: {}: {}\n", p.is_error ? "wrong" : "warning", name_of(p.fault), one_line(p.text()));
    if (done && !o.quiet) fmt::print("{}: a valid package\n", o.folder);
  }
  return done ? 0 : fail(done);
}

// --- select ---

/// "npu"; of a provider that tells of no devices, and where no variant fits, null.
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

/// One line for each variant, whatever characters their names have.
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
  session_options how;
  how.providers = o.common.providers;
  if (o.common.policy)
    if (status s = how.prefer(*o.common.policy); !s) return fail(s);
  const result<ep_intent> intent = program_runtime{}.intent(how);
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
    const selection made = best_fit{o.ranked}({*c, p->layout(), intent->devices, intent->is_wish});
    if (!made.variant && first) first = no_suitable_variant(*c, made, intent->devices);
    if (o.json) components.push_back(to_json(*c, made));
    else
      fmt::print("component {}: {}\n{}\n", one_line(c->name), made.variant ? one_line(made.variant->name) : "none",
                 text_of(made));
  }
  if (o.json) print_json({{"folder", o.folder}, {"components", std::move(components)}});
  return first ? 0 : fail(first);
}

// --- add, remove ---

package_options_list pairs_of(const std::vector<std::string>& all) {
  package_options_list made;
  for (const std::string& pair : all) {
    const std::size_t equals = std::min(pair.find('='), pair.size());
    made.emplace_back(pair.substr(0, equals), pair.substr(std::min(equals + 1, pair.size())));
  }
  return made;
}

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional{text};
}

/// The long name of a provider of this program; another name is somebody else's.
std::string long_name_of(const std::string& name) {
  const program_runtime with;
  for (const provider& p : with.providers())
    if (p.row->name == name) return std::string{p.row->long_name};
  return name;
}

/// The components' models, and that of the variant which is added now.
result<std::vector<component_io>> interfaces_with(const package& p, const package_options& o,
                                                  std::vector<std::string>& unread) {
  result<std::vector<component_io>> parts = interfaces_of(p, default_formats::rows, &unread);
  if (!parts || o.model.empty() || o.from.empty()) return parts;
  const result<package_io> own = interface_of_file(o.from + "/" + o.model, default_formats::rows);
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
  std::size_t at = 0;  // where the component stands
  for (const package_component& c : p.components())
    if (c.name != o.component && at < parts->size() && (*parts)[at].component == c.name) ++at;
    else if (c.name == o.component) break;
  parts->insert(parts->begin() + std::ptrdiff_t(at), {o.component, *own});
  return parts;
}

/// Declares what the package takes and gives as a whole, where its models say so. What is declared already and still
/// holds stays as long as the components are the same.
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
    fmt::print(stderr, "{}: inputs and outputs of the whole are not declared: {}\n", o.folder, one_line(why));
  return declared ? p.set_io(std::nullopt) : status{};
}

/// What was said, else what a compiled model says to its provider; nothing of others.
std::optional<std::string> compatibility_for(const package_options& o, const package_variant& v) {
  if (o.compatibility) return unless_empty(*o.compatibility);
  if (!v.ep || !v.model_file || o.from.empty()) return {};
  const auto written = program_runtime{}.compatibility(o.from + "/" + *v.model_file, *v.ep);
  return written ? *written : std::nullopt;
}

status add_to(package& p, const package_options& o) {
  const bool is_new = !p.find(o.component);
  if (is_new)
    if (status s = p.add_component(o.component); !s) return s;
  package_variant v;
  v.name = o.variant;
  if (!o.ep.empty()) v.ep = long_name_of(o.ep);
  v.device = unless_empty(o.device);
  v.model_file = unless_empty(o.model);
  v.compatibility = compatibility_for(o, v);
  v.session_options = pairs_of(o.session_options);
  v.provider_options = pairs_of(o.provider_options);
  if (status s = p.add_variant(o.component, std::move(v), o.from); !s) return s;
  return declare_io(p, o, !is_new);
}

void say(const package_options& o, const char* done, const std::vector<std::string>& pruned) {
  if (o.json)
    print_json({{"folder", o.folder},
                {"component", o.component},
                {"variant", o.variant.empty() ? json(nullptr) : json(o.variant)},
                {"pruned", pruned}});
  else if (!o.quiet)
    fmt::print("{}: {} {}{}{}\n", o.folder, done, o.component, o.variant.empty() ? "" : "/", o.variant);
}

int add(const package_options& o) {
  std::error_code ignored;
  const bool is_new = !std::filesystem::exists(o.folder, ignored) || std::filesystem::is_empty(o.folder, ignored);
  result<package> p = is_new ? package::make(std::filesystem::path{o.folder}.lexically_normal().filename().string())
                             : package::open(o.folder);
  if (!p) return fail(p.error());
  if (status s = add_to(*p, o); !s) return fail(s);
  const package_form form = o.dense ? package_form::dense : package_form::preserve;
  if (status s = is_new ? p->save_as(o.folder, form) : p->commit(form); !s) return fail(s);
  say(o, "added", {});
  return 0;
}

int remove(const package_options& o) {
  result<package> p = package::open(o.folder);
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
  say(o, "removed", pruned);
  return 0;
}

void add_pairs(CLI::App& command, const char* name, std::vector<std::string>& to, const char* words) {
  command.add_option(name, to, words)
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->check([](const std::string& pair) {
        return pair.find('=') == std::string::npos || pair.front() == '=' ? "needs KEY=VALUE" : std::string{};
      });
}

using shared_options = std::shared_ptr<package_options>;

CLI::App& add_action(CLI::App& package, const char* name, const char* words, const shared_options& o, action& chosen,
                     int (*does)(const package_options&)) {
  CLI::App& command = *package.add_subcommand(name, words);
  command.add_option("DIR", o->folder, "Folder of the package")->required();
  command.add_flag("--json", o->json, "One JSON object on standard output, nothing else there");
  command.add_flag("--quiet", o->quiet, "Nothing but what was asked for");
  command.callback([o, &chosen, does] { chosen = [o, does] { return does(*o); }; });
  return command;
}

void add_add(CLI::App& package, const shared_options& o, action& chosen) {
  CLI::App& command = add_action(package, "add",
                                 "Adds a variant with the files of a folder; a package or a component that there is "
                                 "not yet is made",
                                 o, chosen, add);
  command.add_option("COMPONENT", o->component, "Component that gets the variant")->required();
  command.add_option("VARIANT", o->variant, "Name of the variant")->required();
  command.add_option("--from", o->from, "Folder whose files become the variant's")->type_name("FOLDER");
  command.add_option("--model", o->model, "Model file, below the folder")->type_name("FILE");
  command.add_option("--ep", o->ep, "Execution provider that runs it, short or long name")->type_name("NAME");
  command.add_option("--device", o->device, "cpu, gpu or npu (default: any)")
      ->check(CLI::IsMember({"cpu", "gpu", "npu"}, CLI::ignore_case).description(""))
      ->type_name("KIND");
  command
      .add_option("--compatibility", o->compatibility,
                  "Compatibility string, for the provider (default: what a compiled model says to it)")
      ->type_name("TEXT");
  add_pairs(command, "--session-option", o->session_options, "Session option of the variant; repeatable");
  add_pairs(command, "--provider-option", o->provider_options, "Provider option of the variant; repeatable");
  command.add_flag("--dense", o->dense, "All components into manifest.json");
}

}  // namespace

void add_package(CLI::App& app, action& chosen) {
  CLI::App& package = *app.add_subcommand(
      "package", "Model packages: folders that hold a model in several variants, of which the best for a machine runs");
  package.require_subcommand(1);
  const auto o = std::make_shared<package_options>();
  add_action(package, "show", "What is in a package", o, chosen, show);
  CLI::App& validating =
      add_action(package, "validate", "Everything that is wrong with a package", o, chosen, validate);
  validating.add_flag("--assets", o->assets, "Hash every shared asset, too");
  CLI::App& selecting =
      add_action(package, "select", "Which variant runs here, and why not the others", o, chosen, select);
  selecting.add_option("COMPONENT", o->component, "One component (default: all of them)");
  selecting
      .add_option("--ep", o->common.providers, "Execution provider, short or long name; repeatable, by priority (cpu)")
      ->type_name("NAME")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  add_policy_option(selecting, o->common);
  selecting.add_flag("--ranked", o->ranked, "Where nothing fits the first provider, ask the next one");
  add_add(package, o, chosen);
  CLI::App& removing = add_action(package, "remove", "Removes a variant, or a component", o, chosen, remove);
  removing.add_option("COMPONENT", o->component, "Component")->required();
  removing.add_option("VARIANT", o->variant, "Variant (default: the whole component)");
  removing.add_flag("--prune", o->prune, "Remove the files that nothing names any more, too");
  removing.add_flag("--assets", o->assets, "With --prune: shared assets that nothing names, too");
  removing.add_flag("--dense", o->dense, "All components into manifest.json");
}

}  // namespace cameo::program
