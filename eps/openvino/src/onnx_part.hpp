#pragma once
#include <cameo/core/result.hpp>
#include <cameo/graph/views.hpp>

#include <string>
#include <vector>

namespace CAMEO_NAMESPACE::eps::openvino_detail {

/// Some nodes of a graph, to become a model of their own.
struct graph_part {
  const graph* of = nullptr;
  std::vector<node_id> nodes;  // in order of execution
  std::vector<value_id> inputs, outputs;
};

/// All of a graph, with its inputs and outputs.
graph_part all_of(const graph&);
/// These nodes as a part: its inputs are values that they read from outside, its outputs values that other nodes or no
/// nodes read. Constants over `largest_constant` bytes are inputs, too. `nodes` are in order of execution.
graph_part part_of(const graph&, std::span<const node_id> nodes, std::size_t largest_constant);

/// The ONNX model of a part, with weights inside. INVALID_ARGUMENT over 2 GB; INVALID_GRAPH when nodes are of versions
/// of their operators that no one opset has.
result<std::string> onnx_bytes(const graph_part&);

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
