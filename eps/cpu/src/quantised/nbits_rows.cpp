// Blocks of floats as bytes, once per instruction set.
#include "common/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quantised/nbits_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "nbits_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace cameo::inline CAMEO_ABI::eps {
namespace HWY_NAMESPACE {
namespace nbits_rows {
namespace hn = hwy::HWY_NAMESPACE;
using floats = hn::ScalableTag<float>;

/// The largest magnitude; NaN where a number is not finite.
float largest(const float* x, std::int64_t n) {
  const floats d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  float most = 0, nothing = 0;
  std::int64_t i = 0;
  if (n >= lanes) {
    auto all = hn::Zero(d), zeros = hn::Zero(d);  // a number times 0 is 0, but for those that are not finite
    for (; i + lanes <= n; i += lanes) {
      const auto v = hn::LoadU(d, x + i);
      all = hn::Max(all, hn::Abs(v));
      zeros = hn::MulAdd(v, hn::Zero(d), zeros);
    }
    most = hn::GetLane(hn::MaxOfLanes(d, all)), nothing = hn::GetLane(hn::SumOfLanes(d, zeros));
  }
  for (; i < n; ++i) most = std::max(most, std::fabs(x[i])), nothing += x[i] * 0;
  return nothing == 0 ? most : std::numeric_limits<float>::quiet_NaN();
}

/// to = the integers nearest to x * factor; their sum.
std::int32_t nearest(const float* x, std::int64_t n, float factor, std::int8_t* to) {
  std::int32_t sum = 0;
  std::int64_t i = 0;
#if !CAMEO_SIMD_EMULATED
  const floats d;
  const hn::RebindToSigned<floats> words;
  const hn::Rebind<std::int8_t, floats> bytes;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  const auto by = hn::Set(d, factor);
  auto sums = hn::Zero(words);
  for (; i + lanes <= n; i += lanes) {
    const auto code = hn::NearestInt(hn::Mul(hn::LoadU(d, x + i), by));
    sums = hn::Add(sums, code);
    hn::StoreU(hn::DemoteTo(bytes, code), bytes, to + i);
  }
  if (i > 0) sum = hn::GetLane(hn::SumOfLanes(words, sums));
#endif
  for (; i < n; ++i) {
    to[i] = std::int8_t(std::nearbyint(x[i] * factor));
    sum += to[i];
  }
  return sum;
}

/// Numbers of a block in the order of their cells; 16 at a time hold whole groups.
void place(const std::int8_t* from, std::int64_t block, std::int64_t bits, std::int8_t* to) {
#if !CAMEO_SIMD_EMULATED
  const hn::Full128<std::int8_t> d;
  alignas(16) std::int8_t order[16];
  for (std::int8_t i = 0; i < 16; ++i) order[cell_place(i, bits)] = i;
  const auto places = hn::Load(d, order);
  for (std::int64_t i = 0; i < block; i += 16)
    hn::StoreU(hn::TableLookupBytes(hn::LoadU(d, from + i), places), d, to + i);
#else
  for (std::int64_t i = 0; i < block; ++i) to[cell_place(i, bits)] = from[i];
#endif
}

nbits_scale quantise(const float* x, std::int64_t there, std::int64_t block, std::int64_t bits, std::int8_t* to) {
  const float most = largest(x, there), factor = 127 / most;
  if (!(factor <= std::numeric_limits<float>::max())) {
    std::fill_n(to, block, std::int8_t{0});
    return {most == most ? 0 : most, 0};
  }
  constexpr std::int64_t some = 256;
  std::int8_t plain[some];
  std::int32_t sum = 0;
  for (std::int64_t i = 0; i < block; i += some) {
    const std::int64_t n = std::min(some, block - i), real = std::clamp<std::int64_t>(there - i, 0, n);
    sum += nearest(x + i, real, factor, plain);
    std::fill(plain + real, plain + n, std::int8_t{0});
    place(plain, n, bits, to + i);
  }
  return {most / 127, sum};
}

}  // namespace nbits_rows
}  // namespace HWY_NAMESPACE
}  // namespace cameo::inline CAMEO_ABI::eps
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cameo::inline CAMEO_ABI::eps {

nbits_scale quantise_block(const float* x, std::int64_t there, std::int64_t block, std::int64_t bits, std::int8_t* to) {
  return CAMEO_SIMD_BEST(nbits_rows::quantise)(x, there, block, bits, to);
}

}  // namespace cameo::inline CAMEO_ABI::eps
#endif
