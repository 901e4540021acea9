#pragma once
// Checks of the tables of an ORT file, for every reader. Includes only core, like ort_view.hpp; allocates only from an
// arena.
#include <cameo/core/arena.hpp>
#include <cameo/core/value.hpp>

#include "core/node_words.hpp"
#include "ort_resolver.hpp"
#include "ort_schema.hpp"

namespace CAMEO_NAMESPACE::ort {

/// One Graph of a file while it is read. Values are numbered from 1; 0 is the absent value.
struct scope {
  scope(const table_view& graph, scope* around)
      : source{graph}, outer{around}, args{source.vector(graph::node_args)}, nodes{source.vector(graph::nodes)} {}

  table_view source;
  scope* outer;
  vector_view args, nodes;
  std::span<std::uint32_t> values = {};    // of args; 0: not defined or read yet
  std::span<std::uint32_t> by_name = {};   // indices of args, sorted by name
  std::span<std::uint32_t> by_index = {};  // indices of nodes, sorted by Node.index

  std::uint32_t index_of(std::uint32_t node) const { return nodes.table(node).number<std::uint32_t>(node::index); }
  /// The index of the node with this Node.index, by `by_index`; no_node if there is none.
  std::uint32_t node_at(std::uint32_t index) const;
};

/// The checks of an untrusted file. A program that does not use them has none of their code.
struct checks {
  result<table_view> (*verify)(std::span<const std::byte> file);
  /// Checks Graph.node_args, and makes scope::by_name.
  status (*args)(scope&, arena& scratch);
  std::uint32_t (*find)(const scope&, std::string_view name);
  /// Checks the indices of nodes, and makes scope::by_index.
  status (*indices)(scope&, arena& scratch);
  status (*node)(const table_view& node, const scope&, const vector_view& opsets);
  status (*edges)(const scope&);
  result<value> (*sparse)(const table_view& sparse, std::string_view name, arena&, std::size_t most);
};
extern const checks all_checks;

/// The index of a name in node_args, or `none`.
inline constexpr std::uint32_t none = 0xFFFFFFFF;
std::uint32_t find_unsorted(const scope&, std::string_view name);
inline std::uint32_t find(const checks* file_checks, const scope& in, std::string_view name) {
  return file_checks ? file_checks->find(in, name) : find_unsorted(in, name);
}

/// The tables above the main graph. Only `resolver` may be absent.
struct file_head {
  std::int64_t version = 0;
  table_view model, resolver;
  vector_view opsets;
};
status read_head(const table_view& root, arena& scratch, file_head&);

/// Checks Node.input_arg_counts: none is negative, and their sum is the number of inputs.
status check_counts(const table_view& node);
/// Checks that an initializer is a tensor of the type that Graph.node_args declares, if it declares one.
inline status check_declared(type_kind kind, dtype declared, const value& constant, std::string_view name) {
  if (kind == type_kind::tensor && (declared == dtype::undefined || declared == constant.type)) return {};
  return wrong(status_code::invalid_graph, "initializer '", name, "' has another type than Graph.node_args declares");
}
/// Adds to an error which node it is: by name or output, and operator.
status in_node(status, const table_view& node);
status in_node(status, const node_words&);

// --- types ---

/// The parts of a type besides its kind and its element or key type.
struct type_parts {
  table_view shape;  // of a tensor; absent: unknown rank
  table_view held;   // the element of a sequence, or the values of a map
};
/// Reads one level of a type.
status read_type(const table_view& type_info, type_kind&, dtype&, type_parts&);
/// Reads the size of a dim; -1 if it is unknown.
status read_dim(const table_view& dimension, std::int64_t& size);

// --- saved optimizations ---

/// A record that was checked. Nodes are given by Node.index, or no_node.
struct record_view {
  std::string_view action;
  table_view group;  // its NodesToOptimizeIndices
  std::size_t inputs = 0, outputs = 0;
  vector_view nodes, makes;  // inputs, the target, outputs, and possibly one node between target and output; op ids
};
result<record_view> read_record(const table_view& record, const scope&);
/// The lists of records, one for each optimizer. FAIL if an optimizer is listed twice.
result<vector_view> read_optimizers(const scope&, arena& scratch);

}  // namespace CAMEO_NAMESPACE::ort
