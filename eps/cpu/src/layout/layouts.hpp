#pragma once
#include <cameo/transform/transform.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Float images in blocks of 16 channels (com.microsoft.nchwc).
bool block_channels(rewriter&);
/// Images of codes with their channels last (com.microsoft's QLinearConv and its like).
bool put_channels_last(rewriter&);

}  // namespace CAMEO_NAMESPACE::eps
