#include "program/options.hpp"
#include "program/runtime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace cameo::program {
namespace {

using json = nlohmann::ordered_json;

struct inspect_options {
  common_options common;
  std::string model;
};

std::string domain_name(std::string_view domain) { return domain.empty() ? "ai.onnx" : std::string{domain}; }

struct parameter_sum {
  std::uint64_t tensors = 0, elements = 0, bytes = 0;
};
/// Initializers of a graph and of the graphs in its nodes. Every node is asked, whatever order() says.
void add_parameters(const graph& g, parameter_sum& sum) {
  for (value_id v : g.initializers())
    if (const value* constant = g[v].constant; constant && constant->kind == value_kind::tensor) {
      ++sum.tensors;
      sum.elements += std::uint64_t(constant->shape.count());
      sum.bytes += constant->bytes();
    }
  for (std::size_t n = 0; n < g.node_capacity(); ++n)
    if (const graph_node& node = g[node_id(n)]; !node.removed)
      for (const graph* sub : node.subgraphs) add_parameters(*sub, sum);
}

/// Nodes of the main graph that follow each other on one provider; a fused node is a partition of its own.
struct partition_info {
  std::string provider, fused_from;
  std::string first, last;
  std::size_t nodes = 0;
};
std::vector<partition_info> partitions_of(const std::vector<placement_info>& placements) {
  std::vector<partition_info> found;
  for (const placement_info& p : placements) {
    if (p.depth != 0) continue;
    const bool joins = !found.empty() && found.back().provider == p.provider && found.back().fused_from.empty() &&
                       p.fused_from.empty();
    const std::string& name = p.node.empty() ? p.op_type : p.node;
    if (!joins) found.push_back({p.provider, p.fused_from, name, name, 0});
    found.back().last = name;
    ++found.back().nodes;
  }
  return found;
}

struct inspection {
  std::vector<placement_info> placements;
  std::vector<partition_info> partitions;
  std::map<std::string, std::size_t> ops;
  std::vector<std::pair<std::string, std::size_t>> providers;  // in order of priority
  parameter_sum parameters;
};

inspection look_at(const session& loaded) {
  inspection made;
  made.placements = loaded.placements(true);
  made.partitions = partitions_of(made.placements);
  for (const std::string& name : loaded.providers()) made.providers.emplace_back(name, 0);
  for (const placement_info& p : made.placements) {
    ++made.ops[p.domain.empty() ? p.op_type : p.domain + "." + p.op_type];
    for (auto& [name, count] : made.providers)
      if (name == p.provider) ++count;
  }
  add_parameters(loaded.graph().main(), made.parameters);
  return made;
}

json describe_ios(const std::vector<io_info>& ios) {
  json all = json::array();
  for (const io_info& io : ios) {
    json one{{"name", io.name}, {"type", io.type_text}};
    if (io.optional) one["optional"] = true;
    all.push_back(std::move(one));
  }
  return all;
}

json to_json(const std::string& path, const session& loaded, const inspection& seen) {
  const model& m = loaded.graph();
  json opsets = json::object(), metadata = json::object(), ops = json::object(), providers = json::object();
  for (const opset_import& each : m.imports) opsets[domain_name(each.domain)] = each.version;
  for (const property& each : m.metadata) metadata[std::string{each.first}] = each.second;
  for (const auto& [op, count] : seen.ops) ops[op] = count;
  for (const auto& [name, count] : seen.providers) providers[name] = count;
  json partitions = json::array(), refusals = json::array();
  for (const partition_info& p : seen.partitions) {
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
  return {{"model", path},
          {"ir_version", m.ir_version},
          {"producer", m.producer_name},
          {"graph", m.main().name},
          {"opsets", std::move(opsets)},
          {"metadata", std::move(metadata)},
          {"inputs", describe_ios(loaded.inputs())},
          {"outputs", describe_ios(loaded.outputs())},
          {"parameters", seen.parameters.elements},
          {"parameter_tensors", seen.parameters.tensors},
          {"parameter_bytes", seen.parameters.bytes},
          {"nodes", seen.placements.size()},
          {"steps", loaded.step_count()},
          {"ops", std::move(ops)},
          {"providers", std::move(providers)},
          {"partitions", std::move(partitions)},
          {"arena_bytes", loaded.fixed_bytes()},
          {"dynamic_shapes", loaded.plan().has_dynamic},
          {"refusals", std::move(refusals)}};
}

/// Control characters in names stay out of a terminal.
std::string shown(std::string_view text) {
  std::string clean{text};
  for (char& c : clean)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  return clean;
}

void print_ios(std::string_view title, const std::vector<io_info>& ios) {
  fmt::print("{}\n", title);
  for (const io_info& io : ios)
    fmt::print("  {}  {}{}\n", shown(io.name), shown(io.type_text), io.optional ? "  (has a default)" : "");
}

void print_nodes(const inspection& seen) {
  fmt::print("nodes       {}\n", seen.placements.size());
  std::vector<std::pair<std::string, std::size_t>> ops{seen.ops.begin(), seen.ops.end()};
  std::stable_sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [op, count] : ops) fmt::print("  {:>6}  {}\n", count, shown(op));
  fmt::print("providers\n");
  for (const auto& [name, count] : seen.providers) fmt::print("  {:>6}  {}\n", count, name);
  fmt::print("partitions  {}\n", seen.partitions.size());
  for (const partition_info& p : seen.partitions)
    fmt::print("  {:>6}  {}{}\n", p.nodes, p.provider,
               p.fused_from.empty() ? fmt::format("  {} .. {}", shown(p.first), shown(p.last))
                                    : "  fused from " + shown(p.fused_from));
}

void print_text(const std::string& path, const session& loaded, const inspection& seen) {
  const model& m = loaded.graph();
  fmt::print("model       {}\n", path);
  fmt::print("graph       {}\n", shown(m.main().name));
  fmt::print("producer    {} {}\n", shown(m.producer_name), shown(m.producer_version));
  fmt::print("ir version  {}\n", m.ir_version);
  fmt::print("opsets     ");
  for (const opset_import& each : m.imports) fmt::print(" {} {}", shown(domain_name(each.domain)), each.version);
  fmt::print("\n");
  for (const property& each : m.metadata) fmt::print("metadata    {} = {}\n", shown(each.first), shown(each.second));
  print_ios("inputs", loaded.inputs());
  print_ios("outputs", loaded.outputs());
  fmt::print("parameters  {} in {} tensors, {} bytes\n", seen.parameters.elements, seen.parameters.tensors,
             seen.parameters.bytes);
  print_nodes(seen);
  fmt::print("arena       {} bytes for values of known shape{}\n", loaded.fixed_bytes(),
             loaded.plan().has_dynamic ? "; others take theirs in a run" : "");
  bool titled = false;
  for (const placement_info& p : seen.placements) {
    if (p.refusals.empty()) continue;
    if (!titled) fmt::print("not earlier\n");
    titled = true;
    fmt::print("  {} '{}' on {}: {}\n", shown(p.op_type), shown(p.node), p.provider,
               shown(fmt::format("{}", fmt::join(p.refusals, "; "))));
  }
}

int inspect_model(const inspect_options& o) {
  const result<session> loaded = program_runtime{}.load(o.model, o.common.session());
  if (!loaded) return fail(loaded.error());
  const inspection seen = look_at(*loaded);
  if (o.common.json) print_json(to_json(o.model, *loaded, seen));
  else print_text(o.model, *loaded, seen);
  return 0;
}

}  // namespace

void add_inspect(CLI::App& app, action& chosen) {
  auto o = std::make_shared<inspect_options>();
  CLI::App& command = *app.add_subcommand("inspect", "Shows what is in a model and where it would run");
  command.add_option("MODEL", o->model, "The model's file")->required();
  add_common_options(command, o->common, json_output::flag);
  command.callback([o, &chosen] { chosen = [o] { return inspect_model(*o); }; });
}

}  // namespace cameo::program
