#include <cameo/ep/provider_row.hpp>
#include <cameo/kernel/match.hpp>
#include <cameo/os/heap_arena.hpp>
#include <cameo/partition/lower.hpp>

namespace CAMEO_NAMESPACE {

bool detail::kernel_matches(const node_view& node, const detail::kernel_table& kernels, std::string* why) {
  std::vector<operand> operands;
  const detail::node_signature signature = signature_of(node, operands);
  verdict v = match(signature, kernels);
  if (v && v.row->choosy) {
    detail::heap_arena scratch;
    detail::arena_vector<detail::output_hint> hints{scratch};
    bind_context context{.op_type = node.op_type(),
                         .node_name = node.name(),
                         .since = node.since(),
                         .attributes = node.raw().attributes,
                         .inputs = signature.inputs,
                         .outputs = signature.outputs,
                         .subgraph_count = node.subgraphs().size(),
                         .state = scratch,
                         .hints = hints};
    if (!v.row->bind(context, true)) v.why = refusal::declined;
  }
  if (why) {
    char line[240];
    *why = explain(v, line);
  }
  return bool(v);
}

std::vector<node_group> detail::single_nodes(const graph_view& g, detail::function_ref<bool(const node_view&)> takes) {
  std::vector<node_group> taken;
  for (const node_view node : g.nodes())
    if (node.provider() < 0 && takes(node)) taken.push_back({{node.id()}, {}});
  return taken;
}

const detail::kernel_table& detail::no_kernels() {
  static constexpr detail::kernel_table none{};
  return none;
}

}  // namespace CAMEO_NAMESPACE
