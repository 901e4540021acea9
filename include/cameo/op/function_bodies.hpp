#pragma once
#include <cameo/op/op.hpp>

namespace cameo::inline CAMEO_ABI {

/// ONNX's definition of an operator in terms of others, where that does not depend on the node. (Bodies that do are
/// built by code.) One version may have several bodies: the right one has the highest `needs_opset` that the model's
/// opset reaches.
struct function_body_row {
  op_id op;
  int since;                        // the version of `op` that the body belongs to
  int needs_opset;                  // the opset of ONNX that the body is written in
  std::string_view function_proto;  // a serialized onnx.FunctionProto; lives as long as the program
};

/// Sorted by op, then since, then needs_opset. Lies in the compiled core and is linked only into programs that call it.
CAMEO_API std::span<const function_body_row> standard_function_bodies();
/// The newest body of this version of an operator for a node of this `opset`; null if it has none.
CAMEO_API const function_body_row* find_function_body(op_id op, int since, std::int64_t opset);

}  // namespace cameo::inline CAMEO_ABI
