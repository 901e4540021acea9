// Interleaves planes of bytes to pixels, compiled once per instruction set.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "interleave.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::interleave {
namespace hn = hwy::HWY_NAMESPACE;

void bytes(const std::uint8_t* from, std::int64_t step, std::int64_t runs, std::int64_t count, std::uint8_t* to) {
  std::int64_t i = 0;
#if CAMEO_SIMD_VECTORS
  const hn::ScalableTag<std::uint8_t> d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  for (; i + lanes <= count; i += lanes) {
    const auto a = hn::LoadU(d, from + i), b = hn::LoadU(d, from + step + i), c = hn::LoadU(d, from + 2 * step + i);
    if (runs == 3) hn::StoreInterleaved3(a, b, c, d, to + 3 * i);
    else hn::StoreInterleaved4(a, b, c, hn::LoadU(d, from + 3 * step + i), d, to + 4 * i);
  }
#endif
  for (; i < count; ++i)
    for (std::int64_t r = 0; r < runs; ++r) to[i * runs + r] = from[r * step + i];
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::interleave
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace CAMEO_NAMESPACE::eps {

void interleave_bytes(const std::uint8_t* from, std::int64_t step, std::int64_t runs, std::int64_t count,
                      std::uint8_t* to) {
  CAMEO_SIMD_BEST(interleave::bytes)(from, step, runs, count, to);
}

}  // namespace CAMEO_NAMESPACE::eps
#endif
