// Integer products with pmaddwd, which every x86-64 processor has.
#include "integer_loops.hpp"
#include "machine/target.hpp"
#include "nbits_loops.hpp"

#include <algorithm>

#ifdef __x86_64__
namespace CAMEO_NAMESPACE::eps {
namespace sse2 {
namespace {

#include "integer_line-inl.hpp"
#include "nbits_line-inl.hpp"
#include "nbits_sse2-inl.hpp"

struct shorts {
  static constexpr int per_cell = 2, lanes = 4, tile_rows = 6;
  using sum = __m128i;
  using cells = __m128i;

  static CAMEO_INLINE cells broadcast(const std::byte* p) {
    std::int32_t cell;
    std::memcpy(&cell, p, sizeof cell);
    return _mm_set1_epi32(cell);
  }
  static CAMEO_INLINE cells load(const std::byte* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
  static CAMEO_INLINE sum load_sums(const std::int32_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  static CAMEO_INLINE sum nothing() { return _mm_setzero_si128(); }
  static CAMEO_INLINE sum add(sum a, sum b) { return _mm_add_epi32(a, b); }
  static CAMEO_INLINE sum add_products(sum s, cells a, cells b) { return _mm_add_epi32(s, _mm_madd_epi16(a, b)); }
  static CAMEO_INLINE void store(sum s, int count, std::int32_t* to) {
    if (count == lanes) return _mm_storeu_si128(reinterpret_cast<__m128i*>(to), s);
    alignas(16) std::int32_t all[lanes];
    _mm_store_si128(reinterpret_cast<__m128i*>(all), s);
    std::memcpy(to, all, std::size_t(count) * sizeof *to);
  }

  struct codes {
    __m128 scale, low, high;
    __m128i zero;
    CAMEO_INLINE codes(const integer_line& p, int column)
        : scale{_mm_loadu_ps(p.scale + column)},
          low{_mm_set1_ps(p.low)},
          high{_mm_set1_ps(p.high)},
          zero{_mm_set1_epi32(p.zero)} {}
    CAMEO_INLINE void put(sum s, int count, std::uint8_t* to) const {
      const __m128 v = _mm_mul_ps(_mm_cvtepi32_ps(s), scale);
      __m128i code = _mm_add_epi32(_mm_cvtps_epi32(_mm_min_ps(_mm_max_ps(v, low), high)), zero);
      code = _mm_and_si128(code, _mm_set1_epi32(0xFF));
      code = _mm_packs_epi32(code, code);
      const std::int32_t some = _mm_cvtsi128_si32(_mm_packus_epi16(code, code));
      if (count == lanes) std::memcpy(to, &some, lanes);
      else std::memcpy(to, &some, std::size_t(count));
    }
  };
};

}  // namespace
}  // namespace sse2

extern const integer_loops sse2_integers;
constinit const integer_loops sse2_integers{"sse2", sse2::arithmetic_of<sse2::shorts>,
                                            sse2::arithmetic_of<sse2::shorts>};
extern const nbits_loops sse2_nbits;
constinit const nbits_loops sse2_nbits = sse2::nbits_of<sse2::nbits_vectors>;

}  // namespace CAMEO_NAMESPACE::eps
#endif
