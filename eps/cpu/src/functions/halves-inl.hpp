// Narrow floats in vectors of float, once per instruction set, with the same bits on each: what vectors compute and
// what the scalar functions compute is one function.
#include <hwy/highway.h>

#include "halves.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::halves {
namespace hn = hwy::HWY_NAMESPACE;

/// 16 bits of each of D's lanes, as numbers of 32 bits.
template <class D>
HWY_INLINE auto load_bits(D, const void* from) {
  const hn::Rebind<std::uint16_t, D> narrow;
  return hn::PromoteTo(hn::RebindToUnsigned<D>{}, hn::LoadU(narrow, static_cast<const std::uint16_t*>(from)));
}

// A vector of D from memory of any float type that is no wider, or of integers of a byte.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const hn::TFromD<D>* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const bfloat16* from) {
  return hn::BitCast(d, hn::ShiftLeft<16>(load_bits(d, from)));
}
template <class D, std::integral T>
HWY_INLINE hn::Vec<D> load(D d, const T* from) {
  static_assert(sizeof(T) == 1);
  const hn::Rebind<T, D> narrow;
  return hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<D>{}, hn::LoadU(narrow, from)));
}
#if CAMEO_SIMD_HALVES
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const float16* from) {
  const hn::Rebind<hwy::float16_t, D> half;
  return hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(from)));
}
#else
/// narrow_rows::widened() in vectors.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const float16* from) {
  const hn::RebindToUnsigned<D> bits;
  const hn::RebindToSigned<D> whole;
  const auto set = [&](std::uint32_t b) HWY_ATTR { return hn::Set(bits, b); };
  const auto half = load_bits(d, from), magnitude = hn::And(half, set(0x7FFF));
  const auto sign = hn::ShiftLeft<16>(hn::And(half, set(0x8000))), shifted = hn::ShiftLeft<13>(magnitude);
  const auto below = [&](std::int32_t end) HWY_ATTR {
    return hn::RebindMask(d, hn::Lt(hn::BitCast(whole, magnitude), hn::Set(whole, end)));
  };
  const auto floats = [&](auto v) HWY_ATTR { return hn::BitCast(d, v); };
  const auto steps = hn::Sub(floats(hn::Add(shifted, set(113u << 23))), hn::Set(d, 0x1p-14f));
  const auto number = hn::IfThenElse(below(0x400), steps, floats(hn::Add(shifted, set(112u << 23))));
  const auto special = hn::IfThenZeroElse(below(0x7C00), floats(set(0x7F800000u)));
  const auto quiet = hn::IfThenZeroElse(below(0x7C01), floats(set(0x00400000u)));
  return hn::Or(hn::Or(number, special), hn::Or(quiet, floats(sign)));
}
#endif

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::halves
HWY_AFTER_NAMESPACE();
