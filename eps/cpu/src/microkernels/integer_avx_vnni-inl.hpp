// Integer products with vpdpbusd and vpdpwssd of 256 bits. Both AVX-VNNI and AVX512-VNNI have these intrinsics; the
// target of the file that includes this decides their encoding. Tests run them as AVX512-VNNI.
#include "integer_avx2-inl.hpp"
#include "integer_code_sum-inl.hpp"
#include "integer_line-inl.hpp"
#include "nbits_avx2-inl.hpp"
#include "nbits_line-inl.hpp"

struct bytes : vectors {
  static constexpr int per_cell = 4;
  static CAMEO_INLINE sum add_products(sum s, cells a, cells b) { return _mm256_dpbusd_epi32(s, a, b); }
};
struct shorts : vectors {
  static constexpr int per_cell = 2;
  static CAMEO_INLINE sum add_products(sum s, cells a, cells b) { return _mm256_dpwssd_epi32(s, a, b); }
};

struct few_bits : nbits_vectors {
  template <int Bits>
  static constexpr int middle = 0;
  template <int Bits>
  static CAMEO_INLINE void split(codes groups, codes (&cells)[8 / Bits]) {
    const codes mask = _mm256_set1_epi8(char((1 << Bits) - 1));
    CAMEO_UNROLL
    for (int i = 0; i < 8 / Bits; ++i) cells[i] = _mm256_and_si256(_mm256_srli_epi32(groups, i * Bits), mask);
  }
  template <int Bits>
  static CAMEO_INLINE sums add_cells(sums s, const codes (&cells)[8 / Bits], const std::byte* a) {
    CAMEO_UNROLL
    for (int i = 0; i < 8 / Bits; ++i) s = _mm256_dpbusd_epi32(s, cells[i], vectors::broadcast(a + 4 * i));
    return s;
  }
};
