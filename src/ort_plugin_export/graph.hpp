#pragma once
#include <cameo/ep/provider_row.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/graph/model.hpp>

#include "ort_plugin_export/host.hpp"

namespace CAMEO_NAMESPACE::detail::ort {

/// A graph of ONNX Runtime, or a part of one, as a model.
struct read_graph {
  std::unique_ptr<model> net;
  std::vector<const ort_node*> nodes;  // by node_id
  /// By node_id: why the node can't be read, for example because it has a string tensor; empty if it can. The model
  /// then has a placeholder that no provider supports, so that paths through the node are in the graph.
  std::vector<std::string> declined;

  /// Why one of the nodes can't be read; empty if all can.
  std::string_view obstacle() const {
    for (const std::string& why : declined)
      if (!why.empty()) return why;
    return {};
  }
};

/// The element types, by ONNX's numbers, of tensors that can be read: all but strings and types that ONNX Runtime or
/// cameo lacks.
inline constexpr type_mask numbers = ((type_mask{1} << int(dtype::f8e8m0)) - 2) & ~(type_mask{1} << int(dtype::string));
inline bool is_number(std::int32_t type) { return type > 0 && type < 32 && (numbers >> type & 1) != 0; }

/// The operators of a model that is read: the standard ones, the provider's, and the placeholder for other nodes.
op_table operators(const provider_row&);

// The functions below make models that check_model() has not checked. They return the errors of ONNX Runtime's
// functions, and OUT_OF_MEMORY.

/// Reads a whole graph. Constants refer to ONNX Runtime's memory.
result<read_graph> read_whole(const host&, const op_table&, const ort_graph&);
/// Reads one node as a separate graph. Constants refer to ONNX Runtime's memory.
result<read_graph> read_one(const host&, const op_table&, const ort_graph& in, const ort_node&);
/// Reads the graph of a fused node. Its inputs and outputs are those of the node in the same order, except that
/// constants are not inputs. Constants are copied.
result<read_graph> read_fused(const host&, const op_table&, const ort_graph& body, const ort_node& fused);

/// A tensor that refers to the elements of an OrtValue. INVALID_GRAPH for a value that is not a numeric tensor.
result<value> view_of(const host&, const ort_value&);

}  // namespace CAMEO_NAMESPACE::detail::ort
