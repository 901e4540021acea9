// Conversions of rows between float and smaller types, compiled once per instruction set. All sets give the same bits:
// the vector functions compute the same as the scalar functions, which convert the rest of a row, or all of it if no
// instruction does.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cameo/eps/cpu/detail/narrow_rows.hpp>

#include "narrow_vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::narrow_loops {
namespace hn = hwy::HWY_NAMESPACE;
using tag = hn::ScalableTag<float>;
using bits_tag = hn::RebindToUnsigned<tag>;
using short_tag = hn::Rebind<std::uint16_t, tag>;
using vec = hn::Vec<tag>;

#if CAMEO_SIMD_FLOAT16
using half_tag = hn::Rebind<hwy::float16_t, tag>;

HWY_INLINE void store(vec v, float16* to) {
  const vec nan = hn::CopySignToAbs(hn::BitCast(tag{}, hn::Set(bits_tag{}, 0x7FC00000u)), v);
  hn::StoreU(hn::DemoteTo(half_tag{}, hn::IfThenElse(hn::Eq(v, v), v, nan)), half_tag{},
             reinterpret_cast<hwy::float16_t*>(to));
}
#endif
HWY_INLINE void store(vec v, bfloat16* to) {
  const hn::RebindToSigned<tag> whole;
  const auto bits = hn::BitCast(bits_tag{}, v), high = hn::ShiftRight<16>(bits);
  const auto even = hn::And(high, hn::Set(bits_tag{}, 1));
  const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(bits_tag{}, 0x7FFF)), even));
  const auto nan = hn::Or(high, hn::Set(bits_tag{}, 0x40));
  const auto made = hn::IfThenElse(hn::RebindMask(bits_tag{}, hn::Eq(v, v)), rounded, nan);
  hn::StoreU(hn::DemoteTo(short_tag{}, hn::BitCast(whole, made)), short_tag{}, reinterpret_cast<std::uint16_t*>(to));
}

/// Calls f for vectors of elements; the last may overlap the vector before it. Fewer elements than a vector are
/// converted one by one.
template <class F, class One>
HWY_INLINE void each_vector(std::int64_t count, const F& f, const One& one) {
  const auto lanes = std::int64_t(hn::Lanes(tag{}));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) f(i);
  if (i == count) return;
  if (count >= lanes) return f(count - lanes);
  for (; i < count; ++i) one(i);
}

template <class T>
void widen(const T* from, float* to, std::int64_t count) {
  each_vector(
      count, [&](std::int64_t i) HWY_ATTR { hn::StoreU(narrow_vectors::load(tag{}, from + i), tag{}, to + i); },
      [&](std::int64_t i) { to[i] = narrow_rows::widened(from[i]); });
}
template <class T>
void add(const T* from, float factor, float* to, std::int64_t count) {
  const vec factors = hn::Set(tag{}, factor);
  const auto lanes = std::int64_t(hn::Lanes(tag{}));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(tag{}, to + i), hn::Mul(narrow_vectors::load(tag{}, from + i), factors)), tag{},
               to + i);
  for (; i < count; ++i) to[i] += narrow_rows::widened(from[i]) * factor;
}
template <class T>
void narrow(const float* from, T* to, std::int64_t count) {
  const auto one = [&](std::int64_t i) { narrow_rows::narrow_one(from[i], to[i]); };
  if constexpr (requires(vec v) { store(v, to); })
    each_vector(count, [&](std::int64_t i) HWY_ATTR { store(hn::LoadU(tag{}, from + i), to + i); }, one);
  else
    for (std::int64_t i = 0; i < count; ++i) one(i);
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::narrow_loops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace CAMEO_NAMESPACE::eps {
namespace {

template <class T>
void look_up(const T* from, float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = narrow_rows::numbers<T>[from[i].bits];
}

}  // namespace

void widen_row(const float16* from, float* to, std::int64_t count) {
  CAMEO_SIMD_BEST(narrow_loops::widen<float16>)(from, to, count);
}
void widen_row(const bfloat16* from, float* to, std::int64_t count) {
  CAMEO_SIMD_BEST(narrow_loops::widen<bfloat16>)(from, to, count);
}
void widen_row(const std::int8_t* from, float* to, std::int64_t count) {
  CAMEO_SIMD_BEST(narrow_loops::widen<std::int8_t>)(from, to, count);
}
void widen_row(const std::uint8_t* from, float* to, std::int64_t count) {
  CAMEO_SIMD_BEST(narrow_loops::widen<std::uint8_t>)(from, to, count);
}
void widen_row(const float8e4m3fn* from, float* to, std::int64_t count) { look_up(from, to, count); }
void widen_row(const float8e4m3fnuz* from, float* to, std::int64_t count) { look_up(from, to, count); }
void widen_row(const float8e5m2* from, float* to, std::int64_t count) { look_up(from, to, count); }
void widen_row(const float8e5m2fnuz* from, float* to, std::int64_t count) { look_up(from, to, count); }

void narrow_row(const float* from, float16* to, std::int64_t count) {
  CAMEO_SIMD_BEST(narrow_loops::narrow<float16>)(from, to, count);
}
void narrow_row(const float* from, bfloat16* to, std::int64_t count) {
  CAMEO_SIMD_BEST(narrow_loops::narrow<bfloat16>)(from, to, count);
}

void add_row(const narrow_elements& from, float factor, float* to, std::int64_t count) {
  from.as_typed([&]<class T>(const T* x) { CAMEO_SIMD_BEST(narrow_loops::add<T>)(x, factor, to, count); });
}
void widen_row(const narrow_elements& from, float* to, std::int64_t count, std::int64_t step) {
  if (step == 1) return from.type->widen(from.data, to, count);
  const auto* const x =
      static_cast<const float16*>(from.data);  // or another 16-bit type: elements are only copied here
  float16 some[narrow_block];
  for (std::int64_t i = 0; i < count; i += narrow_block) {
    const std::int64_t m = std::min(narrow_block, count - i);
    for (std::int64_t j = 0; j < m; ++j) some[j] = x[(i + j) * step];
    from.type->widen(some, to + i, m);
  }
}

}  // namespace CAMEO_NAMESPACE::eps
#endif
