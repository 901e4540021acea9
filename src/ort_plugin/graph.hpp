#pragma once
#include <cameo/ep/provider_row.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/graph/model.hpp>

#include "ort_plugin/host.hpp"

namespace cameo::inline CAMEO_ABI::detail::ort {

/// What becomes of the elements of constants: those of graphs that are only looked at stay where they are.
enum class constants : std::uint8_t { borrowed, copied };

/// A graph of ONNX Runtime's, or a part of one, as a model.
struct read_graph {
  std::unique_ptr<model> net;
  std::vector<const ort_node*> nodes;  // by node_id
  /// By node_id: why the node can't cross, such as a value of text; empty if it can. Such a node is in the model as one
  /// that no provider takes, so that paths through it are known.
  std::vector<std::string> declined;
};

/// What a part of a graph has for inputs and outputs, in that order.
struct boundary {
  std::vector<const ort_value_info*> inputs, outputs;  // constants among the inputs are left out
};

/// Whether tensors of a type, by its number, can cross: all but those of texts and of types that one side lacks.
bool is_number(std::int32_t type);

/// The operators of a model that is read: the standard ones, the provider's, and the one of nodes that can't cross.
op_table operators(const provider_row&);

/// Reads nodes of a graph; with `boundary`, they become a graph of their own with these inputs and outputs, else all
/// values from outside are inputs and those of the graph are outputs. Not checked yet. Errors are ONNX Runtime's.
result<read_graph> read_nodes(const host&, const op_table&, const ort_graph&, std::span<const ort_node* const>,
                              const boundary*, constants);
/// The whole graph, to be looked at.
result<read_graph> read_whole(const host&, const op_table&, const ort_graph&);
/// One node as a graph of its own, to be looked at.
result<read_graph> read_one(const host&, const op_table&, const ort_graph& in, const ort_node&);

/// A tensor of ONNX Runtime's, in place. INVALID_GRAPH for a value that is not a tensor of numbers.
result<value> view_of(const host&, const ort_value&);

}  // namespace cameo::inline CAMEO_ABI::detail::ort
