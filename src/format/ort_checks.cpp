#include <cameo/graph/model.hpp>

#include "ort_checks.hpp"

#include "ort_constant.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::ort {
namespace {

std::string_view name_of(const scope& in, std::uint32_t arg) { return in.args.table(arg).text(value_info::name); }

std::uint32_t find_sorted(const scope& in, std::string_view name) {
  const auto at =
      std::lower_bound(in.by_name.begin(), in.by_name.end(), name,
                       [&](std::uint32_t arg, std::string_view wanted) { return name_of(in, arg) < wanted; });
  return at != in.by_name.end() && name_of(in, *at) == name ? *at : none;
}

/// Checks names of values. Optional ones that are absent are empty.
status check_listed(const scope& in, const vector_view& names, std::string_view what) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names.text(i).empty() && find_sorted(in, names.text(i)) == none)
      return wrong(status_code::fail, what, ": Graph.node_args has no '", names.text(i), "'");
  return {};
}

status check_args(scope& in, arena& scratch) {
  const auto count = [&](graph::slot slot) { return in.source.vector(slot).size(); };
  if (!in.args && in.nodes.size() + count(graph::inputs) + count(graph::outputs) != 0)
    return missing("Graph.node_args");
  for (std::size_t i = 0; i < in.args.size(); ++i) {
    const table_view info = in.args.table(i);
    if (!info.has(value_info::name)) return missing("ValueInfo.name").in("Graph.node_args");
    if (!info.text(value_info::name).empty() && !info.has(value_info::type))
      return missing("ValueInfo.type").in(info.text(value_info::name));
  }
  const result<std::span<std::uint32_t>> order = sorted(in.args, value_info::name, scratch, text_less);
  if (!order) return order.error();
  in.by_name = *order;
  for (std::size_t i = 1; i < in.by_name.size(); ++i)
    if (const std::string_view name = name_of(in, in.by_name[i]); name == name_of(in, in.by_name[i - 1]))
      return wrong(status_code::fail, "Graph.node_args: '", name, "' is given twice");
  return check_listed(in, in.source.vector(graph::outputs), "Graph.outputs");
}

/// Indices must be unique, below max_node_index, and not too large for the number of nodes, as ONNX Runtime requires.
status check_indices(scope& in, arena& scratch) {
  const auto end = in.source.number<std::uint32_t>(graph::max_node_index);
  const std::size_t absurd =
      std::max<std::size_t>(1024, 64 * (in.nodes.size() + in.source.vector(graph::node_edges).size()));
  const result<std::span<std::uint32_t>> order = sorted(in.nodes, node::index, scratch, number_less);
  if (!order) return order.error();
  in.by_index = *order;
  for (std::size_t i = 0; i < in.by_index.size(); ++i) {
    const std::uint32_t index = in.index_of(in.by_index[i]);
    const auto refuse = [&](std::string_view why, auto... more) {
      return in_node(wrong(status_code::fail, "Node.index ", index, why, more...), in.nodes.table(in.by_index[i]));
    };
    if (index >= end) return refuse(" is not below Graph.max_node_index ", end);
    if (index >= absurd) return refuse(" is too large for so few nodes");
    if (i && index == in.index_of(in.by_index[i - 1])) return refuse(" is given twice");
  }
  return {};
}

/// Edges are computed from names. Those in the file must only refer to existing nodes.
status check_edges(const scope& in) {
  const auto check = [&](std::string_view field, std::uint32_t index) -> status {
    if (in.node_at(index) != no_node) return {};
    return wrong(status_code::fail, "Graph.node_edges: ", field, ": there is no node ", index);
  };
  const vector_view all = in.source.vector(graph::node_edges);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (status s = check("NodeEdge.node_index", all.table(i).number<std::uint32_t>(node_edges::node_index)); !s)
      return s;
    for (const auto slot : {node_edges::input_edges, node_edges::output_edges}) {
      const vector_view ends = all.table(i).vector(slot);
      for (std::size_t e = 0; e < ends.size(); ++e)
        if (status s = check("EdgeEnd.node_index", ends.number<std::uint32_t>(e, edge_end_bytes)); !s) return s;
    }
  }
  return {};
}

/// True if the domain has an opset. The last entry for a domain counts.
bool is_imported(std::string_view domain, const vector_view& opsets) {
  for (std::size_t i = opsets.size(); i-- > 0;) {
    const std::string_view each = opsets.table(i).text(opset::domain);
    if (each == domain ? each != "ai.onnx" : each == "ai.onnx" && domain.empty())
      return opsets.table(i).number<std::int64_t>(opset::version) > 0;
  }
  return false;
}

status check_node(const table_view& from, const scope& in, const vector_view& opsets) {
  if (from.text(node::op_type).empty()) return missing("Node.op_type");
  if (const auto type = from.number<std::int32_t>(node::type); type != 0)
    return wrong(status_code::fail, "Node.type is ", type, "; only plain nodes (0) can be in a file");
  if (!from.has(node::inputs)) return missing("Node.inputs");
  if (!from.has(node::outputs)) return missing("Node.outputs");
  if (!from.has(node::input_arg_counts)) return missing("Node.input_arg_counts");
  if (!from.has(node::implicit_inputs)) return missing("Node.implicit_inputs");
  if (status s = check_listed(in, from.vector(node::inputs), "Node.inputs"); !s) return s;
  // The names that subgraphs read are found in the subgraphs. This list must only contain existing names.
  const vector_view implicit = from.vector(node::implicit_inputs);
  for (std::size_t i = 0; i < implicit.size(); ++i) {
    const scope* at = &in;
    while (at && find_sorted(*at, implicit.text(i)) == none) at = at->outer;
    if (!at) return wrong(status_code::fail, "Node.implicit_inputs: Graph.node_args has no '", implicit.text(i), "'");
  }
  const std::string_view domain = from.text(node::domain);
  if (is_imported(domain, opsets)) return check_counts(from);
  return wrong(status_code::invalid_graph, "Node.domain '", domain, "' is not among Model.opset_import",
               domain == "ai.onnx" ? "; nodes spell ONNX's own domain ''" : "");
}

}  // namespace

const checks all_checks{verify, check_args, find_sorted, check_indices, check_node, check_edges, read_sparse_constant};

std::uint32_t scope::node_at(std::uint32_t index) const {
  const auto at = std::lower_bound(by_index.begin(), by_index.end(), index,
                                   [&](std::uint32_t i, std::uint32_t wanted) { return index_of(i) < wanted; });
  return at == by_index.end() || index_of(*at) != index ? no_node : *at;
}

std::uint32_t find_unsorted(const scope& in, std::string_view name) {
  for (std::uint32_t i = 0; i < in.args.size(); ++i)
    if (name_of(in, i) == name) return i;
  return none;
}

status read_head(const table_view& root, arena& scratch, file_head& to) {
  const result<std::int64_t> version = version_of(root);
  if (!version) return version.error();
  to.version = *version;
  to.resolver = root.table(session::kernel_type_str_resolver);
  if (to.resolver)
    if (status s = check_resolver(to.resolver, scratch); !s) return s;
  to.model = root.table(session::model);
  if (!to.model) return missing("InferenceSession.model");
  to.opsets = to.model.vector(model::opset_import);
  if (!to.opsets) return missing("Model.opset_import");
  for (std::size_t i = 0; i < to.opsets.size(); ++i)
    if (!to.opsets.table(i).has(opset::domain)) return missing("OperatorSetId.domain");
  return to.model.has(model::graph) ? status{} : missing("Model.graph");
}

status check_counts(const table_view& from) {
  const vector_view counts = from.vector(node::input_arg_counts);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto count = counts.number<std::int32_t>(i);
    if (count < 0) return wrong(status_code::fail, "Node.input_arg_counts has ", count);
    sum += count;
  }
  const auto inputs = std::int64_t(from.vector(node::inputs).size());
  return sum == inputs
             ? status{}
             : wrong(status_code::fail, "Node.input_arg_counts adds up to ", sum, ", Node.inputs has ", inputs);
}

status in_node(status s, const table_view& from) {
  if constexpr (!status::has_words) return s;
  node_words words{from.text(node::name), from.text(node::domain), from.text(node::op_type)};
  const vector_view outputs = from.vector(node::outputs);
  for (std::size_t i = 0; i < outputs.size() && words.output.empty(); ++i) words.output = outputs.text(i);
  return in_node(std::move(s), words);
}

status in_node(status s, const node_words& words) {
  if constexpr (!status::has_words) return s;
  short_text where;
  words.say([&](std::string_view part) { where << part; });
  return std::move(s).in(where);
}

// --- types ---

status read_type(const table_view& from, type_kind& kind, dtype& type, type_parts& to) {
  const auto member = from.number<std::uint8_t>(type_info::value_type);
  const table_view value = from.table(type_info::value);
  if (!value) return missing("TypeInfo.value");
  switch (member) {
    case type_info_value::tensor_type: {
      kind = type_kind::tensor;
      if (!element_type_of(value.number<std::int32_t>(tensor_type::elem_type), type))
        return wrong(status_code::invalid_argument, "TensorTypeAndShape.elem_type is not one of the format's");
      to.shape = value.table(tensor_type::shape);
      const std::size_t rank = to.shape.vector(shape::dim).size();
      return rank <= max_rank ? status{}
                              : wrong(status_code::not_implemented, "rank ", std::int64_t(rank),
                                      " of a type is more than cameo's limit of ", std::int64_t(max_rank));
    }
    case type_info_value::sequence_type:
      kind = type_kind::sequence;
      to.held = value.table(sequence_type::elem_type);
      return to.held ? status{} : missing("SequenceType.elem_type");
    case type_info_value::map_type:
      kind = type_kind::map;
      if (!element_type_of(value.number<std::int32_t>(map_type::key_type), type))
        return wrong(status_code::invalid_argument, "MapType.key_type is not one of the format's");
      to.held = value.table(map_type::value_type);
      return to.held ? status{} : missing("MapType.value_type");
    default:
      return wrong(status_code::fail, "TypeInfo.value_type is ", member,
                   ": neither a tensor (1), a sequence (2) nor a map (3)");
  }
}

status read_dim(const table_view& from, std::int64_t& to) {
  const table_view d = from.table(dimension::value);
  const auto kind = d.number<std::int8_t>(dimension_value::dim_type);
  const auto size = d.number<std::int64_t>(dimension_value::dim_value);
  if (kind < 0 || kind > 2) return wrong(status_code::fail, "DimensionValue.dim_type is ", kind, "; it must be 0 to 2");
  if (kind == 2 && !d.has(dimension_value::dim_param)) return missing("DimensionValue.dim_param");
  to = kind == 1 && size >= 0 ? size : -1;  // ONNX Runtime writes -1 for unknown dims, too
  return {};
}

// --- saved optimizations ---

result<record_view> read_record(const table_view& from, const scope& in) {
  const table_view group = from.table(record::nodes_to_optimize_indices);
  if (!group) return missing("RuntimeOptimizationRecord.nodes_to_optimize_indices");
  const auto places = [&](indices::slot number, indices::slot flag, indices::slot more) -> std::uint64_t {
    const std::uint64_t count = group.number<std::uint32_t>(number);
    const auto variadic = group.number<std::uint32_t>(more);
    return group.number<std::uint8_t>(flag) ? count - 1 + std::max(std::uint32_t{1}, variadic) : count;
  };
  const std::uint64_t first = places(indices::num_inputs, indices::has_variadic_input, indices::num_variadic_inputs);
  const std::uint64_t last = places(indices::num_outputs, indices::has_variadic_output, indices::num_variadic_outputs);
  record_view made{from.text(record::action_id),
                   group,
                   std::size_t(first),
                   std::size_t(last),
                   group.vector(indices::node_indices),
                   from.vector(record::produced_op_ids)};
  const std::uint64_t given = made.nodes.size(), wanted = first + 1 + last;
  if (given != wanted && given != wanted + 1)
    return wrong(status_code::fail, "NodesToOptimizeIndices.node_indices has ", std::int64_t(given), " entries, needs ",
                 std::int64_t(wanted));
  const auto end = in.source.number<std::uint32_t>(graph::max_node_index);
  for (std::size_t i = 0; i < given; ++i)
    if (const auto index = made.nodes.number<std::uint32_t>(i); index != no_node && index >= end)
      return wrong(status_code::fail, "NodesToOptimizeIndices.node_indices: ", index,
                   " is not below Graph.max_node_index ", end);
  for (std::size_t i = 0; i < made.makes.size(); ++i)
    if (const result<op_name> name = parse_op_name(made.makes.text(i)); !name)
      return status{name.error()}.in("RuntimeOptimizationRecord.produced_op_ids");
  return made;
}

result<vector_view> read_optimizers(const scope& in, arena& scratch) {
  const vector_view made = in.source.table(graph::runtime_optimizations).vector(optimizations::records);
  std::size_t i = 0, j = 0;
  const result<bool> differ = all_differ(made, optimizer::optimizer_name, scratch, i, j);
  if (!differ) return differ.error();
  if (*differ) return made;
  return wrong(status_code::fail, "RuntimeOptimizations.records: optimizer '",
               made.table(i).text(optimizer::optimizer_name), "' is given twice");
}

}  // namespace CAMEO_NAMESPACE::ort
