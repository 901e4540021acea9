// Conversions of rows of quantized values, sums and floats, compiled once per instruction set.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "integer_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::integer_rows {
namespace hn = hwy::HWY_NAMESPACE;
using floats = hn::ScalableTag<float>;
using words = hn::RebindToSigned<floats>;

void shift(const std::uint8_t* x, std::int64_t n, std::uint8_t* to) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  const auto flip = hn::Set(d, std::uint8_t(0x80));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Xor(hn::LoadU(d, x + i), flip), d, to + i);
  for (; i < n; ++i) to[i] = x[i] ^ 0x80;
}

void widen(const std::uint8_t* x, bool is_signed, std::int32_t zero, std::int64_t n, std::int16_t* to) {
  const hn::ScalableTag<std::int16_t> d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  const auto origin = hn::Set(d, std::int16_t(zero));
  std::int64_t i = 0;
  if (is_signed) {
    const hn::Rebind<std::int8_t, decltype(d)> codes;
    for (; i + lanes <= n; i += lanes)
      hn::StoreU(hn::Sub(hn::PromoteTo(d, hn::LoadU(codes, reinterpret_cast<const std::int8_t*>(x) + i)), origin), d,
                 to + i);
    for (; i < n; ++i) to[i] = std::int16_t(std::int8_t(x[i]) - zero);
  } else {
    const hn::Rebind<std::uint8_t, decltype(d)> codes;
    for (; i + lanes <= n; i += lanes)
      hn::StoreU(hn::Sub(hn::PromoteTo(d, hn::LoadU(codes, x + i)), origin), d, to + i);
    for (; i < n; ++i) to[i] = std::int16_t(x[i] - zero);
  }
}

void to_codes(const std::int32_t* sums, const code_form& form, std::int64_t n, std::uint8_t* codes) {
  std::int64_t i = 0;
#if !CAMEO_SIMD_EMULATED
  const floats d;
  const words w;
  const hn::Rebind<std::uint8_t, floats> bytes;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  const auto low = hn::Set(d, form.low), high = hn::Set(d, form.high);
  const auto zero = hn::Set(w, form.zero), lowest = hn::Set(w, 0xFF);
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::Mul(hn::ConvertTo(d, hn::LoadU(w, sums + i)), hn::LoadU(d, form.scale + i));
    const auto code = hn::Add(hn::NearestInt(hn::Min(hn::Max(v, low), high)), zero);
    hn::StoreU(hn::DemoteTo(bytes, hn::And(code, lowest)), bytes, codes + i);
  }
#endif
  for (; i < n; ++i) {
    const float v = float(sums[i]) * form.scale[i];
    const float inside = v < form.low ? form.low : v > form.high ? form.high : v;
    codes[i] = std::uint8_t(std::int32_t(std::nearbyint(inside)) + form.zero);
  }
}

/// The largest magnitude; NaN if an element is not finite.
float largest(const float* x, std::int64_t n) {
  const floats d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  float most = 0, nothing = 0;
  std::int64_t i = 0;
  if (n >= lanes) {
    auto all = hn::Zero(d), zeros = hn::Zero(d);  // x * 0 is 0 for every finite x, else NaN
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

/// Writes the integers nearest to x * factor, and returns their sum.
std::int32_t nearest(const float* x, std::int64_t n, float factor, std::int8_t* to) {
  std::int32_t sum = 0;
  std::int64_t i = 0;
#if !CAMEO_SIMD_EMULATED
  const floats d;
  const words w;
  const hn::Rebind<std::int8_t, floats> bytes;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  const auto by = hn::Set(d, factor);
  auto sums = hn::Zero(w);
  for (; i + lanes <= n; i += lanes) {
    const auto code = hn::NearestInt(hn::Mul(hn::LoadU(d, x + i), by));
    sums = hn::Add(sums, code);
    hn::StoreU(hn::DemoteTo(bytes, code), bytes, to + i);
  }
  if (i > 0) sum = hn::GetLane(hn::SumOfLanes(w, sums));
#endif
  for (; i < n; ++i) {
    to[i] = std::int8_t(std::nearbyint(x[i] * factor));
    sum += to[i];
  }
  return sum;
}

/// Permutes a block to the order of cell_place(), 16 elements at a time, which are whole groups.
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

nbits_scale quantize(const float* x, std::int64_t there, std::int64_t block, std::int64_t bits, std::int8_t* to) {
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

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::integer_rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace CAMEO_NAMESPACE::eps {

void shift_codes(const std::uint8_t* x, std::int64_t n, std::uint8_t* to) {
  CAMEO_SIMD_BEST(integer_rows::shift)(x, n, to);
}
void widen_codes(const std::uint8_t* x, bool is_signed, std::int32_t zero, std::int64_t n, std::int16_t* to) {
  CAMEO_SIMD_BEST(integer_rows::widen)(x, is_signed, zero, n, to);
}
void sums_to_codes(const std::int32_t* sums, const code_form& form, std::int64_t n, std::uint8_t* codes) {
  CAMEO_SIMD_BEST(integer_rows::to_codes)(sums, form, n, codes);
}
nbits_scale quantize_block(const float* x, std::int64_t there, std::int64_t block, std::int64_t bits, std::int8_t* to) {
  return CAMEO_SIMD_BEST(integer_rows::quantize)(x, there, block, bits, to);
}

}  // namespace CAMEO_NAMESPACE::eps
#endif
