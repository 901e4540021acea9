// Vectors of blocked channels, and what is done to sums before they are stored. To be included once per instruction
// set, in an unnamed namespace within HWY_NAMESPACE.

namespace hn = hwy::HWY_NAMESPACE;
using floats = hn::CappedTag<float, std::size_t(channel_block)>;
using vec = hn::Vec<floats>;
constexpr floats d;
constexpr int lanes = int(hn::MaxLanes(d));
constexpr int vectors = int(channel_block) / lanes;  // of a block
static_assert(vectors * lanes == channel_block);

/// v within [low, high]; NaN passes.
HWY_INLINE vec bounded(vec v, vec low, vec high) {
#if CAMEO_SIMD_EMULATED
  v = hn::IfThenElse(hn::Lt(v, low), low, v);
  return hn::IfThenElse(hn::Gt(v, high), high, v);
#else  // x86 gives the second operand when one is NaN, ARM gives NaN
  return hn::Min(high, hn::Max(low, v));
#endif
}
/// The first `count` lanes; the others become 0.
HWY_INLINE vec cut(vec v, std::int64_t count) {
  return hn::IfThenElseZero(hn::FirstN(d, std::size_t(std::clamp<std::int64_t>(count, 0, lanes))), v);
}

/// f(y) over `count` pixels of `blocks` blocks that were just stored, for activations that are more than bounds. Lanes
/// of the last block behind `channels` become 0 again.
HWY_NOINLINE void activate(const activation& f, float* y, std::int64_t y_block, std::int64_t blocks, std::int64_t count,
                           std::int64_t channels) {
  for (std::int64_t block = 0; block < blocks; ++block, y += y_block) {
    apply_activation(f, y, count * channel_block);
    if (block + 1 < blocks || channels == channel_block) continue;
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t c = channels; c < channel_block; ++c) y[i * channel_block + c] = 0;
  }
}
