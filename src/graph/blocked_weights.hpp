#pragma once
#include <cameo/graph/model.hpp>

namespace cameo::inline CAMEO_ABI {

/// Gives the convolutions of com.microsoft.nchwc that ONNX Runtime wrote their weights back as ONNX has them, with
/// attribute plain_weights, in a checked graph and those below it. How many channels it puts side by side in weights is
/// 8 or 16, by the processor that it ran on, and no file tells. Counts of channels may prove it for all of a graph; if
/// not, it is what ONNX Runtime would take here. Convolutions whose counts contradict each other stay as they are, and
/// so do all of a graph in blocks of 8 where a node counts on the places of channels in them.
status unpack_blocked_weights(graph&);

}  // namespace cameo::inline CAMEO_ABI
