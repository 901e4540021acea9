// Integer products with AVX2: vpmaddubsw where its sums of two products can't saturate, else vpmaddwd.
#include "integer_loops.hpp"
#include "machine/target.hpp"
#include "nbits_loops.hpp"

#include <algorithm>

#ifdef __x86_64__
CAMEO_TARGET("avx2,fma")
namespace CAMEO_NAMESPACE::eps {
namespace avx2 {
namespace {

#include "integer_avx2-inl.hpp"
#include "integer_code_sum-inl.hpp"
#include "integer_line-inl.hpp"
#include "integer_sort-inl.hpp"
#include "nbits_avx2-inl.hpp"
#include "nbits_line-inl.hpp"

struct bytes : vectors {
  static constexpr int per_cell = 4;
  static CAMEO_INLINE sum add_products(sum s, cells a, cells b) {
    return add_wide(s, _mm256_maddubs_epi16(a, b), _mm256_set1_epi16(1));
  }
  static CAMEO_INLINE sum add_joined(sum s, cells a, cells b, cells c, cells d) {
    const cells pairs = _mm256_add_epi16(_mm256_maddubs_epi16(a, b), _mm256_maddubs_epi16(c, d));
    return add_wide(s, pairs, _mm256_set1_epi16(1));
  }
  static CAMEO_INLINE cells ordered(cells a, std::uint32_t order) {
    const __m128i in_lane = _mm_setr_epi32(0, 0x04040404, 0x08080808, 0x0C0C0C0C);
    return _mm256_shuffle_epi8(a, _mm256_add_epi8(_mm256_set1_epi32(int(order)), _mm256_broadcastsi128_si256(in_lane)));
  }
  static CAMEO_INLINE cells evens(cells a) { return _mm256_and_si256(a, _mm256_set1_epi16(0xFF)); }
  static CAMEO_INLINE cells odds(cells a) { return _mm256_srli_epi16(a, 8); }
  static CAMEO_INLINE sum add_wide(sum s, cells a, cells b) { return _mm256_add_epi32(s, _mm256_madd_epi16(a, b)); }

  /// The positive weights of a pair, and the negative ones, may add up to 128, as 128 * 255 < 2^15: then the sum of the
  /// two products does not saturate for any u8.
  static CAMEO_INLINE bool pairs_fit(cells a, cells b = nothing()) {
    const cells one = _mm256_set1_epi8(1), zero = nothing(), most = _mm256_set1_epi16(128);
    const auto pairs = [&](cells x, cells y) {
      return _mm256_add_epi16(_mm256_maddubs_epi16(one, x), _mm256_maddubs_epi16(one, y));
    };
    const cells up = pairs(_mm256_max_epi8(a, zero), _mm256_max_epi8(b, zero));
    const cells down = pairs(_mm256_min_epi8(a, zero), _mm256_min_epi8(b, zero));
    const cells more =
        _mm256_or_si256(_mm256_cmpgt_epi16(up, most), _mm256_cmpgt_epi16(_mm256_sub_epi16(zero, down), most));
    return _mm256_testz_si256(more, more) != 0;
  }
  static CAMEO_INLINE cells wide_evens(cells a) { return _mm256_srai_epi16(_mm256_slli_epi16(a, 8), 8); }
  static CAMEO_INLINE cells wide_odds(cells a) { return _mm256_srai_epi16(a, 8); }
};
struct shorts : vectors {
  static constexpr int per_cell = 2;
  static CAMEO_INLINE sum add_products(sum s, cells a, cells b) { return _mm256_add_epi32(s, _mm256_madd_epi16(a, b)); }
};

#include "integer_depthwise_avx2-inl.hpp"

}  // namespace
}  // namespace avx2

extern const integer_loops avx2_integers;
constinit const integer_loops avx2_integers{"avx2", avx2::arithmetic_of<avx2::bytes, avx2::sort_cells<avx2::bytes>>,
                                            avx2::arithmetic_of<avx2::shorts>, avx2::depthwise,
                                            avx2::add_codes<avx2::shorts>};
extern const nbits_loops avx2_nbits;
constinit const nbits_loops avx2_nbits = avx2::nbits_of<avx2::nbits_vectors>;

}  // namespace CAMEO_NAMESPACE::eps
CAMEO_TARGET_END
#endif
