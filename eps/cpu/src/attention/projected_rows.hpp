#pragma once
#include <cameo/eps/cpu/multi_head_attention.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Queries, keys and values side by side, as one projection computes them: rows [batches * length, 2 * third + hidden],
/// where `third` is the width of the queries and of the keys, and `hidden` that of the values.
struct projected_rows {
  std::span<const float> all;
  std::int64_t batches, length, third, hidden;  // third: the width of queries and of keys; hidden: of values
  std::int64_t width() const { return 2 * third + hidden; }
};
/// Computes attention of projected rows. Output 1, if the node has it, receives the keys and values, with those of
/// `past` before them.
status attend_projected(run_context&, const microsoft_attention&, const projected_rows&, const value& mask,
                        const value& past, const value& bias, const value& y);

}  // namespace CAMEO_NAMESPACE::eps
