// Assigns each node of a draft to a provider.
#include "ort_draft_sink.hpp"

namespace CAMEO_NAMESPACE {

/// Finds the first provider with a kernel for the node, whose domain is `domain`. `from` is absent for a node that is
/// not in the file.
status ort_draft_sink::choose_provider(const ort::table_view& from, std::string_view domain, const scope& in,
                                       detail::draft_node& to) {
  operands_.clear();
  for (std::span<const slot> slots : {to.inputs, to.outputs})
    for (slot s : slots)
      if (!operands_.push_back(s ? in.made->values[s].info : operand{})) return status_code::out_of_memory;
  const std::span<const operand> all = operands_.span();
  detail::node_signature node{{}, to.since, all.first(to.inputs.size()), all.subspan(to.inputs.size())};
  status why = status_code::not_implemented;
  if constexpr (status::has_words) why = {status_code::not_implemented, "no list of kernels has the operator"};
  for (std::size_t p = 0; p < providers_.size(); ++p) {
    const detail::kernel_table& kernels = *providers_[p];
    const op_row* const op = detail::find_op(kernels.ops, domain, to.op_type);
    if (!op || op->versions.empty()) continue;
    node.op = op->id;
    const result<verdict> found =
        file_checks ? (this->*checks_->match)(from, to, node, kernels, *op) : match(node, kernels);
    if (!found) return found.error();
    if (*found && found->row->choosy) {
      detail::arena_vector<detail::output_hint> hints{memory};
      bind_context context{.op_type = to.op_type,
                           .node_name = to.name,
                           .since = to.since,
                           .attributes = to.attributes,
                           .inputs = node.inputs,
                           .outputs = node.outputs,
                           .subgraph_count = to.subgraphs.size(),
                           .state = memory,
                           .hints = hints};
      if (!found->row->bind(context, true)) continue;
    }
    if (*found) return to.op = op, to.row = found->row, to.provider = std::uint8_t(p), status{};
    if constexpr (status::has_words) {
      char line[160];
      why = {status_code::not_implemented, explain(*found, line)};
    }
  }
  return why;
}

status ort_draft_sink::choose_providers(const scope& in) {
  for (std::size_t i = 0; i < in.made->nodes.size(); ++i) {
    const ort::table_view n = in.nodes.table(i);
    if (status s = choose_provider(n, n.text(ort::node::domain), in, in.made->nodes[i]); !s)
      return ort::in_node(std::move(s), n);
  }
  return {};
}

}  // namespace CAMEO_NAMESPACE
