#pragma once
#include <cameo/eps/cpu/multi_head_attention.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Queries, keys and values as one projection made them: rows [batches * length, 2 * third + hidden].
struct projected_rows {
  std::span<const float> all;
  std::int64_t batches, length, third, hidden;  // third: of queries, and of keys; hidden: of values
  std::int64_t width() const { return 2 * third + hidden; }
};
/// Attention of them, to y; output 1, if the node has it, gets the keys and values with those of `past` before them.
status attend_projected(run_context&, const microsoft_attention&, const projected_rows&, const value& mask,
                        const value& past, const value& bias, const value& y);

}  // namespace CAMEO_NAMESPACE::eps
