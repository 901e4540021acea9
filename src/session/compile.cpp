// Makes the programs of fused nodes: compiles them, or restores them from contexts.
#include <fmt/format.h>

#include "context/output_path.hpp"
#include "context/restore.hpp"
#include "core/guarded.hpp"
#include "graph/messages.hpp"
#include "session/stages.hpp"

#include <cstring>

namespace CAMEO_NAMESPACE {
namespace {

/// Compiles all groups of provider `p` in one call, which must return exactly one program for each. If it fails, no
/// other provider is tried.
status compile_groups_of(const provider& by, std::size_t p, const std::vector<fused_node>& fused,
                         std::vector<compiled_node>& programs) {
  std::vector<fused_view> views;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < fused.size(); ++i)
    if (fused[i].provider == p && fused[i].body)
      views.push_back({fused[i].name, graph_view{*fused[i].body}}), numbers.push_back(i);
  if (views.empty()) return {};
  const provider_row& row = *by.row;
  result<std::vector<compiled_node>> made = guarded_hook([&] { return row.compile(by.self.get(), views); });
  if (!made) return std::move(made).error().in(row.long_name);
  if (made->size() != views.size())
    return failed(status_code::fail, "{}: compiled {} programs for {} groups; one for each is needed", row.long_name,
                  made->size(), views.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) programs[numbers[i]] = std::move((*made)[i]);
  return {};
}

/// Aligns the constants of a group's graph and of its subgraphs.
status align_constants(graph& body, model& net) {
  for (std::size_t i = 0; i < body.value_count(); ++i) {
    detail::graph_value& v = body[value_id(i)];
    if (v.outer != value_id::none) v.constant = (*body.outer())[v.outer].constant;
    else if (status s = align_constant(v.constant, net); !s) return s;
  }
  for (node_id n : body.order())
    for (graph* sub : body[n].subgraphs)
      if (status s = align_constants(*sub, net); !s) return s;
  return {};
}

/// Aligns the constants that are inputs of a node with a restored context, because its provider may read them.
status align_inputs(graph& g, node_id n, model& net) {
  for (std::size_t i = 0; i < g.input_count(n); ++i) {
    graph* owner = &g;
    value_id v = g.input(n, i);
    while (v != value_id::none && (*owner)[v].outer != value_id::none) v = (*owner)[v].outer, owner = owner->outer();
    if (v == value_id::none) continue;
    if (status s = align_constant((*owner)[v].constant, net); !s) return s;
    if (owner != &g) g[g.input(n, i)].constant = (*owner)[v].constant;
  }
  return {};
}

std::string operators_in(const graph& body) {
  std::string names;
  for (node_view node : graph_view{body}.nodes())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", node.op_type());
  return names;
}

/// The folder of a compiled model's context files.
context_folder contexts_of(const load_settings& how, const model& net) {
  const opened_places& places = how.places;
  context_folder where;
  where.model = net.path;
  where.read = how.options.read_context;
  const std::string wanted{how.config[config_key<"ep.context_file_path">]};
  if (!wanted.empty()) {
    where.path = folder_of(wanted), where.folder = places.contexts;
  } else if (const std::string_view other = how.config[weights_folder_key]; !other.empty()) {
    where.path = other, where.folder = places.weights;
  } else if (places.model_folder) {
    where.path = folder_of(net.path), where.folder = places.model_folder;
  } else {
    where.path = folder_of(net.path);
    where.file = own_file_of(net);
  }
  where.known = !wanted.empty() || !net.path.empty() || !where.path.empty();
  return where;
}

/// Restores the programs of provider `p`'s nodes that have contexts.
status restore_nodes_of(const provider& by, std::size_t p, const std::vector<fused_node>& fused,
                        const load_settings& how, const model& net, std::vector<compiled_node>& programs) {
  std::vector<node_view> nodes;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < fused.size(); ++i)
    if (fused[i].provider == p && !fused[i].body) nodes.push_back({*fused[i].in, fused[i].node}), numbers.push_back(i);
  if (nodes.empty()) return {};
  const bool is_shared = how.config.is_on(config_key<"ep.share_ep_contexts">);
  result<std::vector<compiled_node>> made =
      restore_contexts(by, nodes, contexts_of(how, net), is_shared ? how.workspace.get() : nullptr);
  if (!made) return std::move(made).error();
  for (std::size_t i = 0; i < numbers.size(); ++i) programs[numbers[i]] = std::move((*made)[i]);
  return {};
}

}  // namespace

status align_constant(const value*& constant, model& net) {
  if (!constant || detail::is_aligned(*constant)) return {};
  value moved = *constant;
  moved.data = net.memory.allocate(moved.bytes(), 64);
  if (!moved.data) return status_code::out_of_memory;
  std::memcpy(moved.data, constant->data, moved.bytes());
  constant = net.memory.keep(moved);
  return constant ? status{} : status{status_code::out_of_memory};
}

result<compiled_groups> compile_groups(const load_settings& how, std::span<const provider> providers,
                                       std::optional<compilation>& output, const placed_nodes& placed, model& net,
                                       const load_reporter& reporter) {
  compiled_groups made;
  made.programs.resize(placed.fused.size());
  if (output)
    if (status s = require_storing(how, providers, *output, placed.fused, net); !s) return s;
  for (const fused_node& f : placed.fused) {
    if (status s = f.body ? align_constants(*const_cast<graph*>(f.body), net) : align_inputs(*f.in, f.node, net); !s)
      return s;
    made.operators.push_back(f.body ? operators_in(*f.body) : std::string{});
  }
  for (std::size_t p = 0; p < providers.size(); ++p) {
    if (status s = restore_nodes_of(providers[p], p, placed.fused, how, net, made.programs); !s) return s;
    if (status s = compile_groups_of(providers[p], p, placed.fused, made.programs); !s) return s;
    reporter.part(double(p + 1) / double(providers.size()));
  }
  return made;
}

}  // namespace CAMEO_NAMESPACE
