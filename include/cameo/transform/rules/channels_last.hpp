#pragma once
#include <cameo/transform/rewriter.hpp>

CAMEO_BEGIN_NAMESPACE

/// True for a node that com.ms.internal.nhwc has an operator for and that can be moved there: its first input and its
/// one output are images of known rank, channels second.
CAMEO_API bool has_channels_last_form(const rewriter&, const node_view&);

/// Moves a node to com.ms.internal.nhwc, between a Transpose that puts channels last and one that puts them back. The
/// new node; `none` when the operator's version has no such form.
CAMEO_API node_id make_channels_last(rewriter&, const node_view&);

CAMEO_END_NAMESPACE
