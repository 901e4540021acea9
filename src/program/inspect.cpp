#include "build/runtime.hpp"
#include "file/messages.hpp"
#include "inspect/inspection.hpp"
#include "inspect/page.hpp"
#include "inspect/trace.hpp"
#include "program/options.hpp"
#include "program/runnable.hpp"
#include "program/say.hpp"

#include <cameo/context/compiled_nodes.hpp>
#include <cameo/file/atomic_file.hpp>
#include <cameo/graph/model.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace cameo::program {
namespace {

using json = nlohmann::ordered_json;

struct inspect_options {
  common_options common;
  std::string model, component, html, profile;
};

/// An array with, for each dim, its size, its symbol's name, or null if neither is known; null without a shape.
json dims_json(const value_type& type, const std::vector<std::string>& symbols) {
  if (!type.shape) return nullptr;
  json dims = json::array();
  for (const dim d : *type.shape) {
    if (d.known()) dims.push_back(d.size);
    else if (d.symbol != 0 && d.symbol < symbols.size()) dims.push_back(symbols[d.symbol]);
    else dims.push_back(nullptr);
  }
  return dims;
}

json describe_ios(const std::vector<io_info>& ios, const std::vector<std::string>& symbols) {
  json all = json::array();
  for (const io_info& io : ios) {
    json one{{"name", io.name}, {"type", io.type_text}, {"element_type", nullptr}, {"dims", nullptr}};
    if (io.type.is_tensor()) {
      one["element_type"] = detail::row_of(io.type.type).name;
      one["dims"] = dims_json(io.type, symbols);
    }
    if (io.optional) one["optional"] = true;
    all.push_back(std::move(one));
  }
  return all;
}

/// The model that is shown: as it was loaded, or, if it has compiled nodes and cannot be loaded here, as its file has
/// it.
struct shown_model {
  const model& m;
  std::vector<io_info> inputs, outputs;
  inspect::inspection seen;
  std::vector<compiled_node_info> compiled;
  const session* loaded = nullptr;  // null: the model was only read
  optimization_level level = optimization_level::none;
  std::string why_not = {};  // why it could not be loaded
};

std::vector<io_info> ios_of(const model& m, std::span<const value_id> values, bool inputs) {
  std::vector<io_info> made;
  for (value_id v : values) {
    const detail::graph_value& value = m.main()[v];
    if (inputs && value.constant && m.ir_version < 4) continue;  // an initializer
    io_info& one = made.emplace_back(
        io_info{std::string{value.name}, value.type ? *value.type : value_type{}, inputs && value.constant, {}});
    one.type_text = one.type.to_string(&m.symbols);
  }
  return made;
}

json describe_compiled(const std::vector<compiled_node_info>& nodes) {
  json all = json::array();
  for (const compiled_node_info& n : nodes) {
    json one{{"node", n.node},
             {"source", n.source},
             {"ep_sdk_version", n.sdk_version},
             {"hardware_architecture", n.hardware},
             {"partition_name", n.graph_name},
             {"main_context", int(n.is_main)},
             {"embed_mode", int(n.is_embedded)},
             {"context_file", n.file},
             {"context_id", n.id},
             {"notes", n.notes}};
    if (n.is_embedded) one["context_bytes"] = n.embedded_bytes;
    all.push_back(std::move(one));
  }
  return all;
}

json to_json(const std::string& path, const shown_model& shown) {
  const model& m = shown.m;
  const inspect::inspection& seen = shown.seen;
  json opsets = json::object(), metadata = json::object(), ops = json::object(), providers = json::object();
  for (const opset_import& each : m.imports) opsets[inspect::domain_name(each.domain)] = each.version;
  for (const detail::property& each : m.metadata) metadata[std::string{each.first}] = each.second;
  for (const auto& [op, count] : seen.ops) ops[op] = count;
  for (const auto& [name, count] : seen.providers) providers[name] = count;
  json partitions = json::array(), refusals = json::array();
  for (const inspect::partition_info& p : seen.partitions) {
    json one{{"provider", p.provider},
             {"nodes", p.nodes},
             {"fused", !p.fused_from.empty()},
             {"first", p.first},
             {"last", p.last}};
    if (!p.fused_from.empty()) one["fused_from"] = p.fused_from;
    partitions.push_back(std::move(one));
  }
  for (const placement_info& p : seen.placements)
    if (!p.refusals.empty())
      refusals.push_back({{"node", p.node}, {"op", p.op_type}, {"provider", p.provider}, {"reasons", p.refusals}});
  json all{{"model", path},
           {"ir_version", m.ir_version},
           {"producer", m.producer_name},
           {"graph", m.main().name},
           {"optimize", level_name(shown.level)},
           {"opsets", std::move(opsets)},
           {"metadata", std::move(metadata)},
           {"inputs", describe_ios(shown.inputs, m.symbols)},
           {"outputs", describe_ios(shown.outputs, m.symbols)},
           {"parameters", seen.parameters.elements},
           {"parameter_tensors", seen.parameters.tensors},
           {"parameter_bytes", seen.parameters.bytes},
           {"ops", std::move(ops)}};
  if (!shown.compiled.empty()) all["compiled_nodes"] = describe_compiled(shown.compiled);
  if (!shown.loaded) {
    all["not_loaded"] = shown.why_not;
    return all;
  }
  all["nodes"] = seen.placements.size();
  all["steps"] = shown.loaded->step_count();
  all["providers"] = std::move(providers);
  all["partitions"] = std::move(partitions);
  all["arena_bytes"] = shown.loaded->fixed_bytes();
  all["dynamic_shapes"] = shown.loaded->plan().has_dynamic;
  all["refusals"] = std::move(refusals);
  return all;
}

void print_ios(std::string_view title, const std::vector<io_info>& ios) {
  say("{}\n", title);
  for (const io_info& io : ios) say("  {}  {}{}\n", io.name, io.type_text, io.optional ? "  (has a default)" : "");
}

void print_ops(const inspect::inspection& seen) {
  std::size_t nodes = 0;
  for (const auto& [op, count] : seen.ops) nodes += count;
  say("nodes       {}\n", nodes);
  std::vector<std::pair<std::string, std::size_t>> ops{seen.ops.begin(), seen.ops.end()};
  std::stable_sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [op, count] : ops) say("  {:>6}  {}\n", count, op);
}

void print_compiled(const std::vector<compiled_node_info>& nodes) {
  if (!nodes.empty()) say("compiled\n");
  for (const compiled_node_info& n : nodes) {
    say("  {}  source {}, SDK {}", n.node, n.source.empty() ? "unknown" : n.source,
        n.sdk_version.empty() ? "unknown" : n.sdk_version);
    if (!n.hardware.empty()) say(", for {}", n.hardware);
    say(", embed mode {}, ", int(n.is_embedded));
    if (!n.is_main) say("context in another node\n");
    else if (n.is_embedded) say("context of {} bytes\n", n.embedded_bytes);
    else say("context file {}\n", n.file);
  }
}

void print_places(const inspect::inspection& seen) {
  say("providers\n");
  for (const auto& [name, count] : seen.providers) say("  {:>6}  {}\n", count, name);
  say("partitions  {}\n", seen.partitions.size());
  for (const inspect::partition_info& p : seen.partitions)
    say("  {:>6}  {}{}\n", p.nodes, p.provider,
        p.fused_from.empty() ? fmt::format("  {} .. {}", p.first, p.last) : "  fused from " + p.fused_from);
}

void print_text(const std::string& path, const shown_model& shown) {
  const model& m = shown.m;
  const inspect::inspection& seen = shown.seen;
  say("model       {}\n", path);
  say("graph       {}\n", m.main().name);
  if (shown.level == optimization_level::none) say("shown       as it is in the file\n");
  else
    say("shown       as it runs, optimized (--optimize {}); --optimize none shows the file's\n",
        level_name(shown.level));
  say("producer    {} {}\n", m.producer_name, m.producer_version);
  say("ir version  {}\n", m.ir_version);
  say("opsets     ");
  for (const opset_import& each : m.imports) say(" {} {}", inspect::domain_name(each.domain), each.version);
  say("\n");
  for (const detail::property& each : m.metadata) say("metadata    {} = {}\n", each.first, each.second);
  print_ios("inputs", shown.inputs);
  print_ios("outputs", shown.outputs);
  say("parameters  {} in {} tensors, {} bytes\n", seen.parameters.elements, seen.parameters.tensors,
      seen.parameters.bytes);
  print_ops(seen);
  print_compiled(shown.compiled);
  if (!shown.loaded) {
    say("not loaded  {}\n", shown.why_not);
    return;
  }
  print_places(seen);
  say("arena       {} bytes for values of known shape{}\n", shown.loaded->fixed_bytes(),
      shown.loaded->plan().has_dynamic ? "; others take theirs in a run" : "");
  bool titled = false;
  for (const placement_info& p : seen.placements) {
    if (p.refusals.empty()) continue;
    if (!titled) say("not earlier\n");
    titled = true;
    say("  {} '{}' on {}: {}\n", p.op_type, p.node, p.provider, fmt::format("{}", fmt::join(p.refusals, "; ")));
  }
}

status write_page(const inspect_options& o, const session& loaded, const inspect::inspection& seen) {
  std::optional<inspect::profiled_run> profile;
  if (!o.profile.empty()) {
    result<inspect::profiled_run> read = inspect::read_profile(o.profile, loaded.plan());
    if (!read) return read.error();
    profile = std::move(*read);
  }
  return write_file_atomically(
      o.html, std::string_view{inspect::page_of(o.model, loaded, seen, profile ? &*profile : nullptr)});
}

void show(const inspect_options& o, const shown_model& shown) {
  if (o.common.json) print_json(to_json(o.model, shown));
  else print_text(o.model, shown);
}

/// Shows a compiled model that could not be loaded, for example because this program lacks its provider or the machine
/// lacks its processor: the attributes of its EPContext nodes show what it was compiled for. For any other model,
/// reports `why_not`.
int show_compiled(const inspect_options& o, const status& why_not) {
  std::error_code error;
  if (!o.html.empty() || !std::filesystem::is_regular_file(o.model, error)) return fail(why_not);
  const auto m = ort_format::recognizes({}, o.model) ? read_ort(o.model) : read_onnx(o.model);
  if (!m || !(*m)->main().sort()) return fail(why_not);
  const result<std::vector<compiled_node_info>> nodes = compiled_nodes_of(**m);
  if (!nodes || nodes->empty()) return fail(why_not);
  const graph& g = (*m)->main();
  show(o, {**m, ios_of(**m, g.inputs(), true), ios_of(**m, g.outputs(), false), inspect::look_at(**m), *nodes, nullptr,
           optimization_level::none, fmt::format("{}: {}", why_not.name(), why_not.words())});
  return 0;
}

/// Returns INVALID_ARGUMENT for a --dim that the model does not have. Loading the session only warns about such a name.
status check_free_dims(const inspect_options& o, const session& loaded) {
  const auto& symbols = loaded.graph().symbols;
  for (const auto& [name, size] : o.common.free_dims)
    if (std::find(symbols.begin(), symbols.end(), name) == symbols.end())
      return failed(status_code::invalid_argument, "no input has a dim named '{}'{}", name,
                    nearest_words(name, {symbols.begin() + 1, symbols.end()}));
  return {};
}

int inspect_model(const inspect_options& o) {
  if (const status s = require_other_file(o.model, o.html); !s) return fail(s);
  const result<session> loaded = load_session(o.model, o.component, o.common);
  if (!loaded) return show_compiled(o, loaded.error());
  if (const status s = check_free_dims(o, *loaded); !s) return fail(s);
  shown_model shown{loaded->graph(), loaded->inputs(), loaded->outputs(), inspect::look_at(*loaded), {},
                    &*loaded,        o.common.optimize};
  if (auto nodes = compiled_nodes_of(loaded->graph())) shown.compiled = std::move(*nodes);
  if (!o.html.empty())
    if (const status s = write_page(o, *loaded, shown.seen); !s) return fail(s);
  show(o, shown);
  if (!o.html.empty() && !o.common.quiet) say(stderr, "wrote {}\n", o.html);
  return 0;
}

}  // namespace

void add_inspect(command_line& app) {
  auto o = std::make_shared<inspect_options>();
  const command it = app.add_command(
      "inspect",
      "Shows what is in a model and where it would run: the optimized graph, and with --optimize none the file's");
  it.add("MODEL", o->model, model_words).required();
  add_dim_option(it, o->common.free_dims,
                 "Size of a symbolic dim of the inputs, for which the model is planned; repeatable");
  const option html =
      it.add("--html", o->html, "Writes one page with the graph drawn; it needs no network").type_name("FILE");
  it.add("--profile", o->profile, "A trace of `run --profile`: the page shows the time of each node")
      .type_name("FILE")
      .needs(html);
  add_common_options(it, o->common, json_output::flag);
  add_policy_option(it, o->common);
  add_package_options(it, o->component, o->common);
  it.does([o] { return inspect_model(*o); });
}

}  // namespace cameo::program
