// Writes the saved optimizations of an ORT file.
#include "ort_resolver.hpp"
#include "ort_writer.hpp"

namespace CAMEO_NAMESPACE {
namespace {

using fields = ort_builder::fields;

}  // namespace

/// True if saved optimizations are valid. They refer to nodes by number, so any change to the nodes invalidates them.
bool ort_writer::keeps_optimizations(const scope& in) const {
  if (!in.g.keeps_saved()) return false;
  for (const detail::saved_optimization& each : in.g.saved_optimizations)
    for (node_id n : each.nodes)
      if (n != node_id::none && in.number_of(n) == ort::no_node) return false;  // the node is a constant in the file
  return true;
}

void ort_writer::write_optimizations(ref from, const scope& in) {
  using namespace ort;
  std::map<std::string_view, std::vector<const detail::saved_optimization*>> by_optimizer;
  for (const detail::saved_optimization& each : in.g.saved_optimizations) by_optimizer[each.optimizer].push_back(&each);
  const auto top = builder_.add(from, fields{}.offset(optimizations::records));
  const auto entries = builder_.tables(top[optimizations::records], by_optimizer.size());
  std::size_t at = 0;
  for (const auto& [name, records] : by_optimizer) {
    const auto entry = builder_.add(
        entries[at++], fields{}.offset(optimizer::optimizer_name).offset(optimizer::runtime_optimization_records));
    builder_.text(entry[optimizer::optimizer_name], name);
    const auto all = builder_.tables(entry[optimizer::runtime_optimization_records], records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      const detail::saved_optimization& r = *records[i];
      const auto t = builder_.add(
          all[i],
          fields{}.offset(record::action_id).offset(record::nodes_to_optimize_indices).offset(record::produced_op_ids));
      builder_.text(t[record::action_id], r.action);
      builder_.texts(t[record::produced_op_ids], r.produces);
      const auto nodes = builder_.add(t[record::nodes_to_optimize_indices],
                                      fields{}
                                          .offset(indices::node_indices)
                                          .number(indices::num_inputs, r.inputs)
                                          .number(indices::num_outputs, r.outputs)
                                          .number(indices::has_variadic_input, r.variadic_input)
                                          .number(indices::has_variadic_output, r.variadic_output)
                                          .number(indices::num_variadic_inputs, r.variadic_inputs)
                                          .number(indices::num_variadic_outputs, r.variadic_outputs));
      std::vector<std::uint32_t> numbers;
      for (node_id n : r.nodes) numbers.push_back(in.number_of(n));
      builder_.numbers(nodes[indices::node_indices], std::span<const std::uint32_t>{numbers});
      for (std::string_view id : r.produces) {
        const result<op_name> op = parse_op_name(id);
        const op_row* const row = op ? detail::find_op(detail::standard_ops(), op->domain, op->op_type) : nullptr;
        if (const op_version* const version = row ? row->at(op->since) : nullptr) need(std::string{id}, *version);
      }
    }
  }
}

}  // namespace CAMEO_NAMESPACE
