#pragma once
#include <cameo/ep/provider_row.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/graph/model.hpp>

#include "ort_plugin_export/host.hpp"

namespace CAMEO_NAMESPACE::detail::ort {

/// A graph of ONNX Runtime's, or a part of one, as a model.
struct read_graph {
  std::unique_ptr<model> net;
  std::vector<const ort_node*> nodes;  // by node_id
  /// By node_id: why the node can't cross, such as a value of text; empty if it can. Such a node is in the model as one
  /// that no provider takes, so that paths through it are known.
  std::vector<std::string> declined;

  /// Why one of the nodes can't cross; empty if all can.
  std::string_view trouble() const {
    for (const std::string& why : declined)
      if (!why.empty()) return why;
    return {};
  }
};

/// The types, numbered as ONNX's, that can cross as tensors: all but texts and those that one side lacks.
inline constexpr type_mask numbers = ((type_mask{1} << int(dtype::f8e8m0)) - 2) & ~(type_mask{1} << int(dtype::string));
inline bool is_number(std::int32_t type) { return type > 0 && type < 32 && (numbers >> type & 1) != 0; }

/// The operators of a model that is read: the standard ones, the provider's, and the one of nodes that can't cross.
op_table operators(const provider_row&);

// What follows reads graphs as models, which are not checked yet. Errors are ONNX Runtime's.

/// The whole graph, to be looked at: elements of constants stay where they are.
result<read_graph> read_whole(const host&, const op_table&, const ort_graph&);
/// One node of it as a graph of its own, likewise.
result<read_graph> read_one(const host&, const op_table&, const ort_graph& in, const ort_node&);
/// The graph of a fused node, with that node's inputs and outputs in their order; constants are no inputs. Elements of
/// constants are copied.
result<read_graph> read_fused(const host&, const op_table&, const ort_graph& body, const ort_node& fused);

/// A tensor of ONNX Runtime's, in place. INVALID_GRAPH for a value that is not a tensor of numbers.
result<value> view_of(const host&, const ort_value&);

}  // namespace CAMEO_NAMESPACE::detail::ort
