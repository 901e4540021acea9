#pragma once
#include <cameo/core/result.hpp>
#include <cameo/graph/views.hpp>

#include <string>
#include <vector>

namespace CAMEO_NAMESPACE::eps::openvino_detail {

/// Some nodes of a graph, from which a separate model is made.
struct graph_part {
  const graph* source = nullptr;
  std::vector<node_id> nodes;  // in order of execution
  std::vector<value_id> inputs, outputs;
};

/// All of a graph, with its inputs and outputs.
graph_part all_of(const graph&);
/// Some nodes of a graph, which are in order of execution. The inputs are the values that they read from outside, and
/// constants over `largest_constant` bytes. The outputs are the values that other nodes or no nodes read.
graph_part part_of(const graph&, std::span<const node_id> nodes, std::size_t largest_constant);

/// The bytes of an ONNX model of a part, with its weights inside. INVALID_ARGUMENT over 2 GB; INVALID_GRAPH if no opset
/// has the versions of all nodes' operators.
result<std::string> onnx_bytes(const graph_part&);

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
