// Non-temporal stores, compiled once per instruction set.
#include "simd.hpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "past_caches.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::past_caches {
namespace hn = hwy::HWY_NAMESPACE;

void bytes(std::uint8_t* to, const std::uint8_t* from, std::size_t count) {
  std::size_t i = 0;
#if CAMEO_SIMD_VECTORS
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  i = std::min(count, (lanes - reinterpret_cast<std::uintptr_t>(to) % lanes) % lanes);  // align the vectors that follow
  std::memcpy(to, from, i);
  for (; i + lanes <= count; i += lanes) hn::Stream(hn::LoadU(d, from + i), d, to + i);
#endif
  std::memcpy(to + i, from + i, count - i);
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::past_caches
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace CAMEO_NAMESPACE::eps {

past_caches_writer::~past_caches_writer() { hwy::FlushStream(); }

void past_caches_writer::write(std::byte* to, const std::byte* from, std::size_t bytes) {
  CAMEO_SIMD_BEST(past_caches::bytes)
  (reinterpret_cast<std::uint8_t*>(to), reinterpret_cast<const std::uint8_t*>(from), bytes);
}

}  // namespace CAMEO_NAMESPACE::eps
#endif
