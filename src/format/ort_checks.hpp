#pragma once
// What the tables of an ORT file have to say, table by table: for every reader of them. Includes only core, as
// ort_view.hpp; nothing here allocates but from an arena.
#include <cameo/core/arena.hpp>
#include <cameo/core/value.hpp>

#include "core/node_words.hpp"
#include "ort_resolver.hpp"
#include "ort_schema.hpp"

CAMEO_BEGIN_NAMESPACE
namespace ort {

/// One Graph of a file while it is read. Values have numbers from 1 on; 0 is the absent one.
struct scope {
  scope(const table_view& graph, scope* around)
      : from{graph}, outer{around}, args{from.vector(graph::node_args)}, nodes{from.vector(graph::nodes)} {}

  table_view from;
  scope* outer;
  vector_view args, nodes;
  std::span<std::uint32_t> values = {};    // of args; 0: not yet defined or read
  std::span<std::uint32_t> by_name = {};   // numbers of args, sorted
  std::span<std::uint32_t> by_index = {};  // numbers of nodes, sorted by Node.index

  std::uint32_t index_of(std::uint32_t node) const { return nodes.table(node).number<std::uint32_t>(node::index); }
  /// The number of the node with this Node.index, by `by_index`; no_node if there is none.
  std::uint32_t node_at(std::uint32_t index) const;
};

/// What is asked of a file that is not trusted. A program without them has none of their code.
struct checks {
  result<table_view> (*verify)(std::span<const std::byte> file);
  /// Also makes scope::by_name.
  status (*args)(scope&, arena& scratch);
  std::uint32_t (*find)(const scope&, std::string_view name);
  /// Also makes scope::by_index.
  status (*indices)(scope&, arena& scratch);
  status (*node)(const table_view& node, const scope&, const vector_view& opsets);
  status (*edges)(const scope&);
  result<value> (*sparse)(const table_view& sparse, std::string_view name, arena&, std::size_t most);
};
extern const checks all_checks;

/// The number of a name among node_args, or `none`.
inline constexpr std::uint32_t none = 0xFFFFFFFF;
std::uint32_t find_unsorted(const scope&, std::string_view name);
inline std::uint32_t find(const checks* asked, const scope& in, std::string_view name) {
  return asked ? asked->find(in, name) : find_unsorted(in, name);
}

/// What the tables above the main graph say. `resolver` may be absent, the others are not.
struct file_head {
  std::int64_t version = 0;
  table_view model, resolver;
  vector_view opsets;
};
status read_head(const table_view& root, arena& scratch, file_head&);

/// Node.input_arg_counts: none is negative, and in all they are as many as there are inputs.
status check_counts(const table_view& node);
/// An initializer is a tensor of the type that Graph.node_args declares, if it declares one.
inline status check_declared(type_kind kind, dtype declared, const value& constant, std::string_view name) {
  if (kind == type_kind::tensor && (declared == dtype::undefined || declared == constant.type)) return {};
  return wrong(status_code::invalid_graph, "initializer '", name, "' is of another type than Graph.node_args says");
}
/// Says which node it is: its name, or what it makes, and its operator.
status in_node(status, const table_view& node);
status in_node(status, const node_words&);

// --- types ---

/// What a static type has besides its kind and its elements' type, or its keys'.
struct type_parts {
  table_view shape;  // of a tensor; absent: unknown rank
  table_view held;   // by a sequence or a map
};
/// One level of a type.
status read_type(const table_view& type_info, type_kind&, dtype&, type_parts&);
/// The size of a dim; -1 if it is not known.
status read_dim(const table_view& dimension, std::int64_t& size);

// --- saved optimizations ---

/// A record, checked for being one. Numbers of nodes are Node.index, or no_node.
struct record_view {
  std::string_view action;
  table_view group;  // its NodesToOptimizeIndices
  std::size_t inputs = 0, outputs = 0;
  vector_view nodes, makes;  // inputs, the target, outputs, and possibly one between target and output; op ids
};
result<record_view> read_record(const table_view& record, const scope&);
/// The lists of records, one for each optimizer. FAIL if one is there twice.
result<vector_view> read_optimizers(const scope&, arena& scratch);

}  // namespace ort
CAMEO_END_NAMESPACE
