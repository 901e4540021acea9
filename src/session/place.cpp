// Finds the operators of nodes, and assigns nodes to providers, which run or compile them.
#include <cameo/partition/lower.hpp>

#include "context/workspace.hpp"
#include "core/guarded.hpp"
#include "graph/messages.hpp"
#include "graph/standard_function.hpp"
#include "session/stages.hpp"

namespace CAMEO_NAMESPACE {

result<op_table> check_operators(std::span<const provider> providers, model& net) {
  op_table ops;
  for (const provider& p : providers) {
    ops.more.push_back(p.row->kernels().ops);
    ops.more.push_back(p.row->own_ops);
  }
  if (status s = check_model(net, ops); !s) return s;
  return ops;
}

namespace {

/// Creates the standard function bodies of operators for which no provider has a kernel, each of them once.
class standard_bodies {
 public:
  explicit standard_bodies(std::vector<std::unique_ptr<function>>& to) : made_{to} {}

  result<const function*> body_of(model& m, const detail::graph_node& node) {
    if (!node.op || !node.version) return static_cast<const function*>(nullptr);
    const function_body_row* const best = find_function_body(node.op->id, node.version->since, node.opset);
    if (!best) return static_cast<const function*>(nullptr);
    for (const auto& [row, known] : known_)
      if (row == best) return known;
    made_.push_back(std::make_unique<function>(make_function(m, *best)));
    known_.emplace_back(best, made_.back().get());
    return known_.back().second;
  }

 private:
  std::vector<std::unique_ptr<function>>& made_;
  std::vector<std::pair<const function_body_row*, const function*>> known_;
};

/// A node that was assigned to a fallback; null if there is none.
const detail::graph_node* on_fallback(const graph& g, std::span<const provider> providers) {
  for (node_id n : g.order()) {
    const detail::graph_node& node = g[n];
    if (is_known(g, node)) continue;  // its outputs are constants, so it never runs
    if (node.provider == external_provider) continue;
    if (node.provider >= 0 && providers[std::size_t(node.provider)].row->is_fallback) return &node;
    if (node.fused >= 0) continue;
    for (const class graph* sub : node.subgraphs)
      if (const detail::graph_node* inner = on_fallback(*sub, providers)) return inner;
  }
  return nullptr;
}

/// The providers of the runtime that the session does not use.
std::vector<claim_row> unused(const load_settings& how, std::span<const provider> used) {
  std::vector<claim_row> rows;
  for (const provider& p : how.of_runtime)
    if (std::none_of(used.begin(), used.end(), [&](const provider& each) { return each.row == p.row; }))
      rows.push_back(claimer(p, {}));
  return rows;
}

}  // namespace

claim_row claimer(const provider& p, detail::device_kinds kinds) {
  return {p.row->name,    p.row->long_name,        p.self.get(), p.row->layout, p.row->groups,
          p.row->why_not, p.row->contexts.sources, kinds};
}

status inline_calls(const load_settings& how, const chosen_providers& by, const op_table& ops, model& net) {
  if (net.functions.empty()) return {};
  const std::vector<claim_row> rows = by.claimers();
  const auto body = [](model&, const detail::graph_node& node) -> result<const function*> { return node.callee; };
  const auto canceled = [&] { return how.options.stop.stop_requested(); };
  partition_options with{body, canceled};
  with.rules = how.used_rules();
  return guarded_hook([&] { return inline_functions(net, rows, ops, with); });
}

result<placed_nodes> place_nodes(const load_settings& how, const chosen_providers& by, const op_table& ops,
                                 const std::optional<compilation>& output, model& net) {
  placed_nodes made;
  standard_bodies bodies{made.bodies};
  const auto body = [&](model& m, const detail::graph_node& node) { return bodies.body_of(m, node); };
  const auto canceled = [&] { return how.options.stop.stop_requested(); };
  const std::vector<claim_row> rows = by.claimers(), others = unused(how, by.list);
  partition_options with{body, canceled, !how.config.is_on(config_key<"session.disable_model_compile">)};
  with.keep_external_contexts = how.compile_only != nullptr;
  with.rules = how.used_rules();
  with.others = others;
  if (how.config.is_on(config_key<"session.record_ep_graph_assignment_info">)) with.assignments = &made.assignments;
  if (output) with.fused_name_prefix = how.config[config_key<"ep.context_node_name_prefix">];
  if (output && output->contexts.shared) with.group_numbers = &how.workspace->inside().groups;
  result<std::vector<fused_node>> fused = guarded_hook([&] { return partition(net, rows, ops, with); });
  if (!fused) return std::move(fused).error();
  made.fused = std::move(*fused);
  constexpr const config_key_row& no_fallback = config_key<"session.disable_cpu_ep_fallback">;
  if (how.config.is_on(no_fallback))
    if (const detail::graph_node* node = on_fallback(net.main(), by.list))
      return failed(status_code::fail, "{} is set, and {} is only taken by the fallback '{}'", no_fallback.key,
                    name_of(net.main(), *node), by.list[std::size_t(node->provider)].row->name);
  return made;
}

}  // namespace CAMEO_NAMESPACE
