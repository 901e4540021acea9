#pragma once
#include <cameo/eps/cpu/multi_head_attention.hpp>
#include <cameo/geometry/attention.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's Attention of known sizes.
using projected_sizes = geometry::basic_projected_attention<std::int64_t>;
/// Computes attention of queries, keys and values side by side, as one projection computes them: rows [batches *
/// length, 2 * query_width + value_width]. Output 1, if the node has it, receives the keys and values, with those of
/// `past` before them.
status attend_projected(run_context&, const microsoft_attention&, const projected_sizes&, std::span<const float> rows,
                        const value& mask, const value& past, const value& bias, const value& y);

}  // namespace CAMEO_NAMESPACE::eps
