// Conversions of float16, bfloat16 and bytes to vectors of float, compiled once per instruction set. All sets give the
// same bits: the vector functions and the scalar functions of narrow_numbers.hpp compute the same.
#include <hwy/highway.h>

#include "narrow_numbers.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::narrow_vectors {
namespace hn = hwy::HWY_NAMESPACE;

/// Loads 16 bits for each of D's lanes, as 32-bit integers.
template <class D>
HWY_INLINE auto load_bits(D, const void* from) {
  const hn::Rebind<std::uint16_t, D> narrow;
  return hn::PromoteTo(hn::RebindToUnsigned<D>{}, hn::LoadU(narrow, static_cast<const std::uint16_t*>(from)));
}

// Load a vector of D from memory of a float type that is not wider, or of bytes.
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
#if CAMEO_SIMD_FLOAT16
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const float16* from) {
  const hn::Rebind<hwy::float16_t, D> half;
  return hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(from)));
}
#else
/// The vector version of narrow_rows::widened().
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

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::narrow_vectors
HWY_AFTER_NAMESPACE();
