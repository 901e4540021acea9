#pragma once
#include <cameo/transform/transform.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Moves nodes of a graph to the blocked layout: float images in blocks of 16 channels (com.microsoft.nchwc). Returns
/// whether the graph changed.
bool block_channels(rewriter&);
/// Moves nodes of a graph to the channels-last layout of quantized images (QLinearConv and other operators of
/// com.microsoft). Returns whether the graph changed.
bool put_channels_last(rewriter&);

}  // namespace CAMEO_NAMESPACE::eps
