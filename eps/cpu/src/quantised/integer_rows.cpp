// Rows of codes and sums, once per instruction set.
#include "common/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quantised/integer_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "integer_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace cameo::inline CAMEO_ABI::eps {
namespace HWY_NAMESPACE {
namespace integer_rows {
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

void to_floats(const std::int32_t* sums, const float* scale, const float* bias, std::int64_t n, float* y) {
  const floats d;
  const words w;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto v = hn::Mul(hn::ConvertTo(d, hn::LoadU(w, sums + i)), hn::LoadU(d, scale + i));
    if (bias) v = hn::Add(v, hn::LoadU(d, bias + i));
    hn::StoreU(v, d, y + i);
  }
  for (; i < n; ++i) {
    const float v = float(sums[i]) * scale[i];
    y[i] = bias ? v + bias[i] : v;
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

}  // namespace integer_rows
}  // namespace HWY_NAMESPACE
}  // namespace cameo::inline CAMEO_ABI::eps
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cameo::inline CAMEO_ABI::eps {

void shift_codes(const std::uint8_t* x, std::int64_t n, std::uint8_t* to) {
  CAMEO_SIMD_BEST(integer_rows::shift)(x, n, to);
}
void widen_codes(const std::uint8_t* x, bool is_signed, std::int32_t zero, std::int64_t n, std::int16_t* to) {
  CAMEO_SIMD_BEST(integer_rows::widen)(x, is_signed, zero, n, to);
}
void sums_to_floats(const std::int32_t* sums, const float* scale, const float* bias, std::int64_t n, float* y) {
  CAMEO_SIMD_BEST(integer_rows::to_floats)(sums, scale, bias, n, y);
}
void sums_to_codes(const std::int32_t* sums, const code_form& form, std::int64_t n, std::uint8_t* codes) {
  CAMEO_SIMD_BEST(integer_rows::to_codes)(sums, form, n, codes);
}

}  // namespace cameo::inline CAMEO_ABI::eps
#endif
