#pragma once
// The one walk over the bytes of an .onnx or .pb file: to messages as they lie there, texts and data as spans of the
// file. onnx_schema.hpp lists the fields that cameo reads; what a message has besides is in its `rest`.
#include <cameo/format/onnx.hpp>

#include "onnx_schema.hpp"

CAMEO_BEGIN_NAMESPACE
namespace wire {

/// How deep messages may lie in each other, and graphs in graphs: recursion over them is bounded whatever a caller
/// allows.
struct depth_limits {
  std::size_t messages, graphs;
};

/// Reads a message of the file in one walk, into `to`; what it makes lies in `memory`, and refers to `bytes`. As in
/// protobuf the last of a single number or text counts, messages that come twice are merged, numbers may be packed or
/// not, and known fields of another wire type are unknown ones. INVALID_PROTOBUF where the bytes end early or are no
/// message (and `what` says the one that is expected), INVALID_GRAPH when graphs are nested deeper than the limit,
/// OUT_OF_MEMORY when what it takes as objects is over the limit.
template <class Message>
status decode(byte_span bytes, std::string_view what, const depth_limits&, const load_limits&, arena& memory,
              Message& to);

}  // namespace wire
CAMEO_END_NAMESPACE
