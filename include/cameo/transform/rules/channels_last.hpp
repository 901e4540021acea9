#pragma once
#include <cameo/transform/rewriter.hpp>

namespace CAMEO_NAMESPACE {

/// True for a node that has an operator in com.ms.internal.nhwc and can move there: its first input and its only output
/// are images of known rank, with channels second.
CAMEO_API bool has_channels_last_form(const rewriter&, const node_view&);

/// Replaces a node by one of com.ms.internal.nhwc, between a Transpose that puts channels last and one that puts them
/// back. Returns the new node; `none` when the operator's version has no such variant.
CAMEO_API node_id make_channels_last(rewriter&, const node_view&);

}  // namespace CAMEO_NAMESPACE
