// Binds the nodes of a provider for a plan: to a kernel of its table, or to its hook `execute`.
#include <cameo/ep/provider_row.hpp>
#include <cameo/plan/planner.hpp>

namespace CAMEO_NAMESPACE {

result<detail::bound_kernel> detail::bind_by_kernels(const detail::kernel_table& kernels,
                                                     const detail::draft_node& node,
                                                     const detail::node_signature& signature, bind_context& context) {
  return bind_by_table(&kernels, node, signature, context);
}

result<detail::bound_kernel> detail::bind_to_execute(const void* self,
                                                     status (*execute)(const void* self, const step_view&,
                                                                       run_context&),
                                                     const detail::draft_node& node, bind_context& context) {
  struct order {
    const void* self;
    status (*execute)(const void* self, const step_view&, run_context&);
    step_view step;
  };
  const result<std::span<operand>> ins = context.state.copy(context.inputs);
  const result<std::span<operand>> outs = context.state.copy(context.outputs);
  if (!ins || !outs) return status_code::out_of_memory;
  const std::string_view domain = node.op ? node.op->domain : std::string_view{};
  const order* const kept = context.state.keep(
      order{self, execute, {node.name, domain, node.op_type, node.since, node.attributes, *ins, *outs}});
  if (!kept) return status_code::out_of_memory;
  return detail::bound_kernel{kept, [](const void* state, run_context& each) -> status {
                                const order& o = *static_cast<const order*>(state);
                                return o.execute(o.self, o.step, each);
                              }};
}

}  // namespace CAMEO_NAMESPACE
