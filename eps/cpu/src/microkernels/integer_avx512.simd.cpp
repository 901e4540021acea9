// Integer products with AVX-512 without VNNI: vpmaddubsw where its sums of two products can't saturate, else vpmaddwd.
#include "integer_loops.hpp"
#include "machine/target.hpp"
#include "nbits_loops.hpp"

#ifdef __x86_64__
CAMEO_TARGET("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
namespace CAMEO_NAMESPACE::eps {
namespace avx512 {
namespace {

#include "integer_avx512-inl.hpp"
#include "integer_code_sum-inl.hpp"
#include "integer_line-inl.hpp"
#include "integer_sort-inl.hpp"
#include "nbits_avx512-inl.hpp"
#include "nbits_line-inl.hpp"

struct bytes : vectors {
  static constexpr int per_cell = 4;
  static CAMEO_INLINE sum add_products(sum s, cells a, cells b) {
    return add_wide(s, _mm512_maddubs_epi16(a, b), _mm512_set1_epi16(1));
  }
  static CAMEO_INLINE sum add_joined(sum s, cells a, cells b, cells c, cells d) {
    const cells pairs = _mm512_add_epi16(_mm512_maddubs_epi16(a, b), _mm512_maddubs_epi16(c, d));
    return add_wide(s, pairs, _mm512_set1_epi16(1));
  }
  static CAMEO_INLINE cells ordered(cells a, std::uint32_t order) {
    const __m128i in_lane = _mm_setr_epi32(0, 0x04040404, 0x08080808, 0x0C0C0C0C);
    return _mm512_shuffle_epi8(a, _mm512_add_epi8(_mm512_set1_epi32(int(order)), _mm512_broadcast_i32x4(in_lane)));
  }
  static CAMEO_INLINE cells evens(cells a) { return _mm512_and_si512(a, _mm512_set1_epi16(0xFF)); }
  static CAMEO_INLINE cells odds(cells a) { return _mm512_srli_epi16(a, 8); }
  static CAMEO_INLINE sum add_wide(sum s, cells a, cells b) { return _mm512_add_epi32(s, _mm512_madd_epi16(a, b)); }

  /// The positive weights of a pair, and the negative ones, may add up to 128, as 128 * 255 < 2^15: then the sum of the
  /// two products does not saturate for any u8.
  static CAMEO_INLINE bool pairs_fit(cells a, cells b = nothing()) {
    const cells one = _mm512_set1_epi8(1), zero = nothing(), most = _mm512_set1_epi16(128);
    const auto pairs = [&](cells x, cells y) {
      return _mm512_add_epi16(_mm512_maddubs_epi16(one, x), _mm512_maddubs_epi16(one, y));
    };
    const cells up = pairs(_mm512_max_epi8(a, zero), _mm512_max_epi8(b, zero));
    const cells down = pairs(_mm512_min_epi8(a, zero), _mm512_min_epi8(b, zero));
    return (_mm512_cmpgt_epi16_mask(up, most) | _mm512_cmpgt_epi16_mask(_mm512_sub_epi16(zero, down), most)) == 0;
  }
  static CAMEO_INLINE cells wide_evens(cells a) { return _mm512_srai_epi16(_mm512_slli_epi16(a, 8), 8); }
  static CAMEO_INLINE cells wide_odds(cells a) { return _mm512_srai_epi16(a, 8); }
};
struct shorts : vectors {
  static constexpr int per_cell = 2;
  static CAMEO_INLINE sum add_products(sum s, cells a, cells b) { return _mm512_add_epi32(s, _mm512_madd_epi16(a, b)); }
};

// The instruction vpmaddubsw adds two products of u8 and s8, and saturates at 16 bits. The products of weights of 2 and
// 4 bits are too small for that. For weights of 8 bits minus 128, the magnitude is multiplied, and the sign is moved to
// the other factor: the sum is 2 * 128 * 127 at most.
struct few_bits : nbits_vectors {
  template <int Bits>
  static constexpr int middle = Bits == 8 ? 128 : 0;
  template <int Bits>
  static CAMEO_INLINE void split(codes groups, codes (&cells)[8 / Bits]) {
    if constexpr (Bits == 8) {
      cells[0] = _mm512_xor_si512(groups, _mm512_set1_epi8(char(0x80)));
    } else {
      const codes mask = _mm512_set1_epi8((1 << Bits) - 1);
      CAMEO_UNROLL
      for (int i = 0; i < 8 / Bits; ++i)
        cells[i] = _mm512_and_si512(_mm512_srli_epi32(groups, unsigned(i * Bits)), mask);
    }
  }
  template <int Bits>
  static CAMEO_INLINE sums add_cells(sums s, const codes (&cells)[8 / Bits], const std::byte* a) {
    codes pairs = _mm512_setzero_si512();
    CAMEO_UNROLL
    for (int i = 0; i < 8 / Bits; ++i) {
      codes factor = vectors::broadcast(a + 4 * i);
      if constexpr (Bits == 8) {
        factor = _mm512_mask_sub_epi8(factor, _mm512_movepi8_mask(cells[i]), _mm512_setzero_si512(), factor);
        pairs = _mm512_maddubs_epi16(_mm512_abs_epi8(cells[i]), factor);
      } else {
        pairs = _mm512_add_epi16(pairs, _mm512_maddubs_epi16(cells[i], factor));
      }
    }
    return _mm512_add_epi32(s, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
  }
};

}  // namespace
}  // namespace avx512

extern const integer_loops avx512_integers;
constinit const integer_loops avx512_integers{"avx512bw",
                                              avx512::arithmetic_of<avx512::bytes, avx512::sort_cells<avx512::bytes>>,
                                              avx512::arithmetic_of<avx512::shorts>,
                                              {},
                                              avx512::add_codes<avx512::shorts>};
extern const nbits_loops avx512_nbits;
constinit const nbits_loops avx512_nbits = avx512::nbits_of<avx512::few_bits>;

}  // namespace CAMEO_NAMESPACE::eps
CAMEO_TARGET_END
#endif
