#pragma once
// The tables of an ORT file and the meaning of their slots (ort.fbs has them for flatc and people; a test compares).
#include <cameo/core/status.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace cameo::inline CAMEO_ABI {
namespace ort {

enum class table_id : std::uint8_t {
  session,
  model,
  opset,
  entry,
  graph,
  node,
  node_edges,
  value_info,
  type_info,
  tensor_type,
  shape,
  dimension,
  dimension_value,
  sequence_type,
  map_type,
  tensor,
  sparse_tensor,
  attribute,
  resolver,
  op_entry,
  type_entry,
  argument,
  optimizations,
  optimizer,
  record,
  indices,
  count
};

/// What a slot holds: a number of so many bytes, a text, a table, a vector of one of these, the table of a union (its
/// type is the slot before), or nothing that is read any more.
enum class slot_kind : std::uint8_t {
  byte,
  word,
  number,
  text,
  table,
  bytes,
  words,
  numbers,
  edges,
  texts,
  tables,
  member,
  skipped
};

/// Names are for messages: a build without words has none of them either.
struct no_label {
  constexpr no_label(const char*) {}
  constexpr operator std::string_view() const { return {}; }
};
using label = std::conditional_t<status::has_words, const char*, no_label>;

struct slot_row {
  [[no_unique_address]] label name;
  slot_kind kind;
  table_id of = table_id::count;  // of tables
  bool is_key = false;            // must be there: vectors are sorted by it
};
struct table_row {
  table_id id;
  [[no_unique_address]] label name;
  std::span<const slot_row> slots;
};

// One enumeration per table: its slots, in order.
namespace session {
enum slot { version, model, state, resolver };
}
namespace model {
enum slot {
  ir_version,
  opset_import,
  producer_name,
  producer_version,
  domain,
  model_version,
  doc_string,
  graph,
  graph_doc_string,
  metadata_props
};
}
namespace opset {
enum slot { domain, version };
}
namespace entry {
enum slot { key, value };
}
namespace graph {
enum slot {
  initializers,
  node_args,
  nodes,
  max_node_index,
  node_edges,
  inputs,
  outputs,
  sparse_initializers,
  runtime_optimizations
};
}
namespace node {
enum slot {
  name,
  doc_string,
  domain,
  since_version,
  index,
  op_type,
  type,
  execution_provider_type,
  inputs,
  outputs,
  attributes,
  input_arg_counts,
  implicit_inputs
};
}
namespace node_edges {
enum slot { node_index, input_edges, output_edges };
}
namespace value_info {
enum slot { name, doc_string, type };
}
namespace type_info {
enum slot { denotation, value_type, value };
}
namespace tensor_type {
enum slot { elem_type, shape };
}
namespace shape {
enum slot { dim };
}
namespace dimension {
enum slot { value, denotation };
}
namespace dimension_value {
enum slot { dim_type, dim_value, dim_param };
}
namespace sequence_type {
enum slot { elem_type };
}
namespace map_type {
enum slot { key_type, value_type };
}
namespace tensor {
enum slot { name, doc_string, dims, data_type, raw_data, string_data, external_data_offset };
}
namespace sparse_tensor {
enum slot { values, indices, dims };
}
namespace attribute {
enum slot { name, doc_string, type, f, i, s, t, g, floats, ints, strings, tensors, graphs };
}
namespace resolver {
enum slot { op_kernel_type_str_args };
}
namespace op_entry {
enum slot { op_id, kernel_type_str_args };
}
namespace type_entry {
enum slot { kernel_type_str, args };
}
namespace argument {
enum slot { arg_type, index };
}
namespace optimizations {
enum slot { records };
}
namespace optimizer {
enum slot { name, records };
}
namespace record {
enum slot { action_id, indices, produced_nodes, produced_op_ids };
}
namespace indices {
enum slot {
  node_indices,
  num_inputs,
  num_outputs,
  has_variadic_input,
  has_variadic_output,
  num_variadic_inputs,
  num_variadic_outputs
};
}

/// EdgeEnd, a struct of a vector: node_index, src_arg_index, dst_arg_index.
inline constexpr std::size_t edge_bytes = 12;
/// Which table a union's type byte names, TypeInfoValue's: 1 a tensor, 2 a sequence, 3 a map.
enum member : std::uint8_t { no_member, tensor_member, sequence_member, map_member };
inline constexpr std::uint32_t no_node = 0xFFFFFFFF;  // in NodesToOptimizeIndices

// clang-format off
inline constexpr slot_row session_slots[] = {
    {"ort_version", slot_kind::text}, {"model", slot_kind::table, table_id::model}, {"session_state", slot_kind::skipped},
    {"kernel_type_str_resolver", slot_kind::table, table_id::resolver}};
inline constexpr slot_row model_slots[] = {
    {"ir_version", slot_kind::number}, {"opset_import", slot_kind::tables, table_id::opset},
    {"producer_name", slot_kind::text}, {"producer_version", slot_kind::text}, {"domain", slot_kind::text},
    {"model_version", slot_kind::number}, {"doc_string", slot_kind::text},
    {"graph", slot_kind::table, table_id::graph}, {"graph_doc_string", slot_kind::text},
    {"metadata_props", slot_kind::tables, table_id::entry}};
inline constexpr slot_row opset_slots[] = {{"domain", slot_kind::text}, {"version", slot_kind::number}};
inline constexpr slot_row entry_slots[] = {{"key", slot_kind::text}, {"value", slot_kind::text}};
inline constexpr slot_row graph_slots[] = {
    {"initializers", slot_kind::tables, table_id::tensor}, {"node_args", slot_kind::tables, table_id::value_info},
    {"nodes", slot_kind::tables, table_id::node}, {"max_node_index", slot_kind::word},
    {"node_edges", slot_kind::tables, table_id::node_edges}, {"inputs", slot_kind::texts},
    {"outputs", slot_kind::texts}, {"sparse_initializers", slot_kind::tables, table_id::sparse_tensor},
    {"runtime_optimizations", slot_kind::table, table_id::optimizations}};
inline constexpr slot_row node_slots[] = {
    {"name", slot_kind::text}, {"doc_string", slot_kind::text}, {"domain", slot_kind::text},
    {"since_version", slot_kind::word}, {"index", slot_kind::word}, {"op_type", slot_kind::text},
    {"type", slot_kind::word}, {"execution_provider_type", slot_kind::text}, {"inputs", slot_kind::texts},
    {"outputs", slot_kind::texts}, {"attributes", slot_kind::tables, table_id::attribute},
    {"input_arg_counts", slot_kind::words}, {"implicit_inputs", slot_kind::texts}};
inline constexpr slot_row node_edges_slots[] = {
    {"node_index", slot_kind::word}, {"input_edges", slot_kind::edges}, {"output_edges", slot_kind::edges}};
inline constexpr slot_row value_info_slots[] = {
    {"name", slot_kind::text}, {"doc_string", slot_kind::text}, {"type", slot_kind::table, table_id::type_info}};
inline constexpr slot_row type_info_slots[] = {
    {"denotation", slot_kind::text}, {"value_type", slot_kind::byte}, {"value", slot_kind::member}};
inline constexpr slot_row tensor_type_slots[] = {
    {"elem_type", slot_kind::word}, {"shape", slot_kind::table, table_id::shape}};
inline constexpr slot_row shape_slots[] = {{"dim", slot_kind::tables, table_id::dimension}};
inline constexpr slot_row dimension_slots[] = {
    {"value", slot_kind::table, table_id::dimension_value}, {"denotation", slot_kind::text}};
inline constexpr slot_row dimension_value_slots[] = {
    {"dim_type", slot_kind::byte}, {"dim_value", slot_kind::number}, {"dim_param", slot_kind::text}};
inline constexpr slot_row sequence_type_slots[] = {{"elem_type", slot_kind::table, table_id::type_info}};
inline constexpr slot_row map_type_slots[] = {
    {"key_type", slot_kind::word}, {"value_type", slot_kind::table, table_id::type_info}};
inline constexpr slot_row tensor_slots[] = {
    {"name", slot_kind::text}, {"doc_string", slot_kind::text}, {"dims", slot_kind::numbers},
    {"data_type", slot_kind::word}, {"raw_data", slot_kind::bytes}, {"string_data", slot_kind::texts},
    {"external_data_offset", slot_kind::number}};
inline constexpr slot_row sparse_tensor_slots[] = {
    {"values", slot_kind::table, table_id::tensor}, {"indices", slot_kind::table, table_id::tensor},
    {"dims", slot_kind::numbers}};
inline constexpr slot_row attribute_slots[] = {
    {"name", slot_kind::text}, {"doc_string", slot_kind::text}, {"type", slot_kind::word}, {"f", slot_kind::word},
    {"i", slot_kind::number}, {"s", slot_kind::text}, {"t", slot_kind::table, table_id::tensor},
    {"g", slot_kind::table, table_id::graph}, {"floats", slot_kind::words}, {"ints", slot_kind::numbers},
    {"strings", slot_kind::texts}, {"tensors", slot_kind::tables, table_id::tensor},
    {"graphs", slot_kind::tables, table_id::graph}};
inline constexpr slot_row resolver_slots[] = {{"op_kernel_type_str_args", slot_kind::tables, table_id::op_entry}};
inline constexpr slot_row op_entry_slots[] = {
    {"op_id", slot_kind::text, table_id::count, true}, {"kernel_type_str_args", slot_kind::tables, table_id::type_entry}};
inline constexpr slot_row type_entry_slots[] = {
    {"kernel_type_str", slot_kind::text, table_id::count, true}, {"args", slot_kind::tables, table_id::argument}};
inline constexpr slot_row argument_slots[] = {{"arg_type", slot_kind::byte}, {"index", slot_kind::word}};
inline constexpr slot_row optimizations_slots[] = {{"records", slot_kind::tables, table_id::optimizer}};
inline constexpr slot_row optimizer_slots[] = {
    {"optimizer_name", slot_kind::text, table_id::count, true},
    {"runtime_optimization_records", slot_kind::tables, table_id::record}};
inline constexpr slot_row record_slots[] = {
    {"action_id", slot_kind::text}, {"nodes_to_optimize_indices", slot_kind::table, table_id::indices},
    {"produced_nodes", slot_kind::skipped}, {"produced_op_ids", slot_kind::texts}};
inline constexpr slot_row indices_slots[] = {
    {"node_indices", slot_kind::words}, {"num_inputs", slot_kind::word}, {"num_outputs", slot_kind::word},
    {"has_variadic_input", slot_kind::byte}, {"has_variadic_output", slot_kind::byte},
    {"num_variadic_inputs", slot_kind::word}, {"num_variadic_outputs", slot_kind::word}};

inline constexpr table_row table_rows[] = {
    {table_id::session, "InferenceSession", session_slots},
    {table_id::model, "Model", model_slots},
    {table_id::opset, "OperatorSetId", opset_slots},
    {table_id::entry, "StringStringEntry", entry_slots},
    {table_id::graph, "Graph", graph_slots},
    {table_id::node, "Node", node_slots},
    {table_id::node_edges, "NodeEdge", node_edges_slots},
    {table_id::value_info, "ValueInfo", value_info_slots},
    {table_id::type_info, "TypeInfo", type_info_slots},
    {table_id::tensor_type, "TensorTypeAndShape", tensor_type_slots},
    {table_id::shape, "Shape", shape_slots},
    {table_id::dimension, "Dimension", dimension_slots},
    {table_id::dimension_value, "DimensionValue", dimension_value_slots},
    {table_id::sequence_type, "SequenceType", sequence_type_slots},
    {table_id::map_type, "MapType", map_type_slots},
    {table_id::tensor, "Tensor", tensor_slots},
    {table_id::sparse_tensor, "SparseTensor", sparse_tensor_slots},
    {table_id::attribute, "Attribute", attribute_slots},
    {table_id::resolver, "KernelTypeStrResolver", resolver_slots},
    {table_id::op_entry, "OpIdKernelTypeStrArgsEntry", op_entry_slots},
    {table_id::type_entry, "KernelTypeStrArgsEntry", type_entry_slots},
    {table_id::argument, "ArgTypeAndIndex", argument_slots},
    {table_id::optimizations, "RuntimeOptimizations", optimizations_slots},
    {table_id::optimizer, "RuntimeOptimizationRecordContainerEntry", optimizer_slots},
    {table_id::record, "RuntimeOptimizationRecord", record_slots},
    {table_id::indices, "NodesToOptimizeIndices", indices_slots},
};
// clang-format on
static_assert(complete_and_in_order(table_rows), "cameo: table_rows lists every table once, in enum order");

}  // namespace ort
}  // namespace cameo::inline CAMEO_ABI
