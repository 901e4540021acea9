#pragma once
// The only decoder of .onnx and .pb files: makes messages whose texts and data are spans of the file. onnx_schema.hpp
// lists the fields that cameo reads; `rest` has the other fields of a message.
#include <cameo/format/onnx.hpp>

#include "onnx_schema.hpp"

namespace CAMEO_NAMESPACE::wire {

/// The deepest nesting of messages and of graphs, which bounds recursion over them.
struct depth_limits {
  std::size_t messages, graphs;
};

/// Decodes a message in one pass into `to`. Objects lie in `memory` and refer to `bytes`. As in protobuf, the last of a
/// single number or text counts, messages that come twice are merged, numbers may be packed or not, and fields with an
/// unexpected wire type are unknown fields. INVALID_PROTOBUF if the bytes are truncated or not a message (`what` names
/// the expected message), INVALID_GRAPH if graphs are nested more deeply than the limit, OUT_OF_MEMORY if objects need
/// more memory than the limit.
template <class Message>
status decode(byte_span bytes, std::string_view what, const depth_limits&, const load_limits&, arena& memory,
              Message& to);

}  // namespace CAMEO_NAMESPACE::wire
