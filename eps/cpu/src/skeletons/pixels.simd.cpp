// Planes to pixels and back, once per instruction set.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "pixels.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::pixels {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void join(const T* from, std::int64_t step, std::int64_t channels, std::int64_t count, T* to) {
  std::int64_t i = 0;
#if CAMEO_SIMD_VECTORS
  const hn::ScalableTag<T> d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  for (; i + lanes <= count; i += lanes) {
    const auto a = hn::LoadU(d, from + i), b = hn::LoadU(d, from + step + i);
    T* const at = to + channels * i;
    if (channels == 2) hn::StoreInterleaved2(a, b, d, at);
    else if (channels == 3) hn::StoreInterleaved3(a, b, hn::LoadU(d, from + 2 * step + i), d, at);
    else hn::StoreInterleaved4(a, b, hn::LoadU(d, from + 2 * step + i), hn::LoadU(d, from + 3 * step + i), d, at);
  }
#endif
  for (; i < count; ++i)
    for (std::int64_t k = 0; k < channels; ++k) to[i * channels + k] = from[k * step + i];
}

template <class T>
void split(const T* from, std::int64_t channels, std::int64_t count, T* to, std::int64_t step) {
  std::int64_t i = 0;
#if CAMEO_SIMD_VECTORS
  const hn::ScalableTag<T> d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  for (; i + lanes <= count; i += lanes) {
    hn::Vec<decltype(d)> a, b, c, e;
    const T* const at = from + channels * i;
    if (channels == 2) hn::LoadInterleaved2(d, at, a, b);
    else if (channels == 3) hn::LoadInterleaved3(d, at, a, b, c);
    else hn::LoadInterleaved4(d, at, a, b, c, e);
    hn::StoreU(a, d, to + i), hn::StoreU(b, d, to + step + i);
    if (channels > 2) hn::StoreU(c, d, to + 2 * step + i);
    if (channels > 3) hn::StoreU(e, d, to + 3 * step + i);
  }
#endif
  for (; i < count; ++i)
    for (std::int64_t k = 0; k < channels; ++k) to[k * step + i] = from[i * channels + k];
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::pixels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace CAMEO_NAMESPACE::eps {

template <class T>
void join_planes(const T* from, std::int64_t step, std::int64_t channels, std::int64_t count, T* to) {
  CAMEO_SIMD_BEST(pixels::join<T>)(from, step, channels, count, to);
}
template <class T>
void split_pixels(const T* from, std::int64_t channels, std::int64_t count, T* to, std::int64_t step) {
  CAMEO_SIMD_BEST(pixels::split<T>)(from, channels, count, to, step);
}
template void join_planes(const std::uint8_t*, std::int64_t, std::int64_t, std::int64_t, std::uint8_t*);
template void join_planes(const std::uint16_t*, std::int64_t, std::int64_t, std::int64_t, std::uint16_t*);
template void join_planes(const std::uint32_t*, std::int64_t, std::int64_t, std::int64_t, std::uint32_t*);
template void split_pixels(const std::uint8_t*, std::int64_t, std::int64_t, std::uint8_t*, std::int64_t);
template void split_pixels(const std::uint16_t*, std::int64_t, std::int64_t, std::uint16_t*, std::int64_t);
template void split_pixels(const std::uint32_t*, std::int64_t, std::int64_t, std::uint32_t*, std::int64_t);

}  // namespace CAMEO_NAMESPACE::eps
#endif
