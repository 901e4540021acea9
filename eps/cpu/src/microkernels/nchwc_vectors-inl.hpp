// Vectors of the NCHWc layout, and the operations on sums before they are stored. Included once per instruction set, in
// an unnamed namespace within HWY_NAMESPACE.

namespace hn = hwy::HWY_NAMESPACE;
using floats = hn::CappedTag<float, std::size_t(channel_block)>;
using vec = hn::Vec<floats>;
constexpr floats d;
constexpr int lanes = int(hn::MaxLanes(d));
constexpr int vectors = int(channel_block) / lanes;  // the vectors of a block
static_assert(vectors * lanes == channel_block);

/// Clamps v to [low, high]; NaN stays NaN.
HWY_INLINE vec bounded(vec v, vec low, vec high) {
#if CAMEO_SIMD_EMULATED
  v = hn::IfThenElse(hn::Lt(v, low), low, v);
  return hn::IfThenElse(hn::Gt(v, high), high, v);
#else  // if one operand is NaN, x86 returns the second one, and ARM returns NaN
  return hn::Min(high, hn::Max(low, v));
#endif
}
/// Sets all lanes but the first `count` to 0.
HWY_INLINE vec cut(vec v, std::int64_t count) {
  return hn::IfThenElseZero(hn::FirstN(d, std::size_t(std::clamp<std::int64_t>(count, 0, lanes))), v);
}

/// Applies an activation other than bounds to `count` pixels of `blocks` blocks that are stored. The lanes of the last
/// block after its `channels` channels become 0 again.
HWY_NOINLINE void activate(const activation& f, float* y, std::int64_t y_block, std::int64_t blocks, std::int64_t count,
                           std::int64_t channels) {
  for (std::int64_t block = 0; block < blocks; ++block, y += y_block) {
    apply_activation(f, y, count * channel_block);
    if (block + 1 < blocks || channels == channel_block) continue;
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t c = channels; c < channel_block; ++c) y[i * channel_block + c] = 0;
  }
}
