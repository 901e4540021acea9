#pragma once
#include <cameo/op/op.hpp>

namespace CAMEO_NAMESPACE {

/// ONNX's definition of an operator in terms of others, if it does not depend on the node. (Code builds the definitions
/// that do.) One version may have several bodies: the right one has the highest `needs_opset` that the model's opset
/// reaches. All rows live as long as the program.
struct function_body_row {
  struct graph_row;
  /// An attribute of a node; only the member of its kind is meaningful.
  struct attribute_row {
    std::string_view name;
    attribute_kind kind;
    std::string_view of_caller = {};  // the caller's attribute that is used here; empty: the value below
    float f = 0;                      // float; tensor: its only element
    std::int64_t i = 0;
    std::span<const std::int64_t> ints = {};
    const graph_row* g = nullptr;
  };
  /// A node of an operator of ONNX's own domain. Values have names, "a,b"; an empty name is an absent value.
  struct node_row {
    std::string_view op_type;
    std::string_view inputs, outputs;
    std::span<const attribute_row> attributes = {};
  };
  /// An input: undefined, or a scalar of this type.
  struct input_row {
    std::string_view name;
    dtype type = dtype::undefined;
  };
  /// A body, or a graph attribute of one of its nodes. Nodes come after those whose outputs they read.
  struct graph_row {
    std::string_view name;
    std::span<const input_row> inputs;
    std::string_view outputs;  // "a,b"
    std::span<const node_row> nodes;
  };

  detail::op_id op;
  int since;                                          // the version of `op` that the body belongs to
  int needs_opset;                                    // the opset of ONNX that the body is written in
  std::span<const std::string_view> attribute_names;  // the caller's attributes that the body uses
  graph_row graph;
};

/// Sorted by op, since and needs_opset. Part of the compiled library, and linked only into programs that call it.
CAMEO_API std::span<const function_body_row> standard_function_bodies();
/// The newest body of this version of an operator for a node of this `opset`; null if it has none.
CAMEO_API const function_body_row* find_function_body(detail::op_id op, int since, std::int64_t opset);

}  // namespace CAMEO_NAMESPACE
