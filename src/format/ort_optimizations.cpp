// Saved optimizations of an ORT file, read and written.
#include "ort_reader.hpp"
#include "ort_resolver.hpp"
#include "ort_writer.hpp"

#include <algorithm>

namespace cameo::inline CAMEO_ABI {
namespace {

using fields = ort_builder::fields;

}  // namespace

/// What is wrong with them is told when they are to be replayed: the graph is complete without.
status ort_reader::read_optimizations(const ort::table_view& from, scope& in) {
  const status done = read_all_optimizations(from, in);
  if (done || done.code() == status_code::out_of_memory) return done;
  in.g.saved_problem = or_throw(model_.memory.copy(done.words()));
  model_.warnings.push_back(fmt::format("saved optimizations are left out: {}", done.words()));
  return {};
}

status ort_reader::read_all_optimizations(const ort::table_view& from, scope& in) {
  const ort::vector_view optimizers = from.table(ort::graph::runtime_optimizations).vector(ort::optimizations::records);
  if (!optimizers || optimizers.size() == 0) return {};
  if (version_ < ort::first_with_resolver) {
    model_.warnings.push_back(
        fmt::format("saved optimizations of format version {} are ignored: versions from {} on can be replayed; "
                    "writing the model again gives version {}",
                    version_, ort::first_with_resolver, ort::newest_version));
    return {};
  }
  std::size_t i = 0, j = 0;
  heap_arena scratch;
  const result<bool> differ = ort::all_differ(optimizers, ort::optimizer::optimizer_name, scratch, i, j);
  if (!differ) return differ.error();
  if (!*differ)
    return failed(status_code::fail, "RuntimeOptimizations.records: optimizer '{}' is there twice",
                  optimizers.table(i).text(ort::optimizer::optimizer_name));
  std::vector<saved_optimization> made;
  for (std::size_t o = 0; o < optimizers.size(); ++o) {
    const ort::vector_view records = optimizers.table(o).vector(ort::optimizer::runtime_optimization_records);
    for (std::size_t r = 0; r < records.size(); ++r) {
      saved_optimization& saved = made.emplace_back();
      saved.optimizer = optimizers.table(o).text(ort::optimizer::optimizer_name);
      bool is_whole = true;
      if (status s = read_record(records.table(r), in, saved, is_whole); !s)
        return std::move(s).in(fmt::format("record {} of optimizer '{}'", r, saved.optimizer));
      if (!is_whole) made.pop_back();  // of nodes that went before the file was written
    }
  }
  in.g.saved_optimizations = kept(made);
  in.g.hold_saved();
  return {};
}

status ort_reader::read_record(const ort::table_view& from, const scope& in, saved_optimization& to, bool& is_whole) {
  using namespace ort;
  const table_view nodes = from.table(record::nodes_to_optimize_indices);
  if (!nodes) return missing_field("RuntimeOptimizationRecord.nodes_to_optimize_indices");
  const auto number = [&](indices::slot slot) { return nodes.number<std::uint32_t>(slot); };
  const auto flag = [&](indices::slot slot) { return nodes.number<std::uint8_t>(slot) != 0; };
  to.action = from.text(record::action_id);
  to.inputs = number(indices::num_inputs);
  to.outputs = number(indices::num_outputs);
  to.variadic_input = flag(indices::has_variadic_input);
  to.variadic_output = flag(indices::has_variadic_output);
  to.variadic_inputs = number(indices::num_variadic_inputs);
  to.variadic_outputs = number(indices::num_variadic_outputs);
  const auto places = [](bool variadic, std::int64_t count, std::int64_t more) {
    return variadic ? count - 1 + std::max<std::int64_t>(1, more) : count;
  };
  const std::int64_t wanted = places(to.variadic_input, to.inputs, to.variadic_inputs) + 1 +
                              places(to.variadic_output, to.outputs, to.variadic_outputs);
  const vector_view numbers = nodes.vector(indices::node_indices);
  if (const auto given = std::int64_t(numbers.size()); given != wanted && given != wanted + 1)
    return failed(status_code::fail, "NodesToOptimizeIndices.node_indices has {} entries, needs {}", given, wanted);
  std::vector<node_id> found;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto index = numbers.number<std::uint32_t>(i);
    if (index != no_node && index >= in.end_of_indices)
      return failed(status_code::fail,
                    "NodesToOptimizeIndices.node_indices[{}]: {} is not below Graph.max_node_index {}", i, index,
                    in.end_of_indices);
    const auto at = index == no_node ? in.nodes.end() : in.nodes.find(index);
    if (index != no_node && at == in.nodes.end()) is_whole = false;
    found.push_back(at == in.nodes.end() ? node_id::none : at->second);
  }
  to.nodes = kept(found);
  const vector_view produced = from.vector(record::produced_op_ids);
  std::vector<std::string_view> ids;
  for (std::size_t i = 0; i < produced.size(); ++i) {
    if (const result<op_name> name = parse_op_name(produced.text(i)); !name)
      return status{name.error()}.in("RuntimeOptimizationRecord.produced_op_ids");
    ids.push_back(produced.text(i));
  }
  to.produces = kept(ids);
  return {};
}

/// They speak of nodes by number, so any change to the nodes ends them.
bool ort_writer::keeps_optimizations(const scope& in) const {
  if (!in.g.keeps_saved()) return false;
  for (const saved_optimization& each : in.g.saved_optimizations)
    for (node_id n : each.nodes)
      if (n != node_id::none && in.number_of(n) == ort::no_node) return false;  // a constant in the file
  return true;
}

void ort_writer::write_optimizations(ref from, const scope& in) {
  using namespace ort;
  std::map<std::string_view, std::vector<const saved_optimization*>> by_optimizer;
  for (const saved_optimization& each : in.g.saved_optimizations) by_optimizer[each.optimizer].push_back(&each);
  const auto top = to_.add(from, fields{}.offset(optimizations::records));
  const auto entries = to_.tables(top[optimizations::records], by_optimizer.size());
  std::size_t at = 0;
  for (const auto& [name, records] : by_optimizer) {
    const auto entry = to_.add(
        entries[at++], fields{}.offset(optimizer::optimizer_name).offset(optimizer::runtime_optimization_records));
    to_.text(entry[optimizer::optimizer_name], name);
    const auto all = to_.tables(entry[optimizer::runtime_optimization_records], records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      const saved_optimization& r = *records[i];
      const auto t = to_.add(
          all[i],
          fields{}.offset(record::action_id).offset(record::nodes_to_optimize_indices).offset(record::produced_op_ids));
      to_.text(t[record::action_id], r.action);
      to_.texts(t[record::produced_op_ids], r.produces);
      const auto nodes =
          to_.add(t[record::nodes_to_optimize_indices], fields{}
                                                            .offset(indices::node_indices)
                                                            .number(indices::num_inputs, r.inputs)
                                                            .number(indices::num_outputs, r.outputs)
                                                            .number(indices::has_variadic_input, r.variadic_input)
                                                            .number(indices::has_variadic_output, r.variadic_output)
                                                            .number(indices::num_variadic_inputs, r.variadic_inputs)
                                                            .number(indices::num_variadic_outputs, r.variadic_outputs));
      std::vector<std::uint32_t> numbers;
      for (node_id n : r.nodes) numbers.push_back(in.number_of(n));
      to_.numbers(nodes[indices::node_indices], std::span<const std::uint32_t>{numbers});
      for (std::string_view id : r.produces) {
        const result<op_name> op = parse_op_name(id);
        const op_row* const row = op ? find_op(standard_ops(), op->domain, op->op_type) : nullptr;
        if (const op_version* const version = row ? row->at(op->since) : nullptr) need(std::string{id}, *version);
      }
    }
  }
}

}  // namespace cameo::inline CAMEO_ABI
