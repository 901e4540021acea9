// Integer products with AVX-512 VNNI: vpdpbusd for bytes, vpdpwssd for int16; and with AMX's tiles for bytes.
#include "integer_loops.hpp"
#include "machine/target.hpp"
#include "nbits_loops.hpp"

#include <algorithm>

#ifdef __x86_64__
CAMEO_TARGET("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")
namespace CAMEO_NAMESPACE::eps {
namespace avx512_vnni {
namespace {

#include "integer_avx512-inl.hpp"
#include "integer_code_sum-inl.hpp"
#include "integer_depthwise_vnni-inl.hpp"
#include "integer_line-inl.hpp"
#include "nbits_avx512-inl.hpp"
#include "nbits_line-inl.hpp"

struct bytes : vectors {
  static constexpr int per_cell = 4;
  static CAMEO_INLINE sum add_products(sum s, cells a, cells b) { return _mm512_dpbusd_epi32(s, a, b); }
};
struct shorts : vectors {
  static constexpr int per_cell = 2;
  static CAMEO_INLINE sum add_products(sum s, cells a, cells b) { return _mm512_dpwssd_epi32(s, a, b); }
};

struct few_bits : nbits_vectors {
  template <int Bits>
  static constexpr int middle = 0;
  template <int Bits>
  static CAMEO_INLINE void split(codes groups, codes (&cells)[8 / Bits]) {
    const codes mask = _mm512_set1_epi8(char((1 << Bits) - 1));
    CAMEO_UNROLL
    for (int i = 0; i < 8 / Bits; ++i) cells[i] = _mm512_and_si512(_mm512_srli_epi32(groups, unsigned(i * Bits)), mask);
  }
  template <int Bits>
  static CAMEO_INLINE sums add_cells(sums s, const codes (&cells)[8 / Bits], const std::byte* a) {
    CAMEO_UNROLL
    for (int i = 0; i < 8 / Bits; ++i) s = _mm512_dpbusd_epi32(s, cells[i], vectors::broadcast(a + 4 * i));
    return s;
  }
};

}  // namespace
}  // namespace avx512_vnni

extern const integer_loops avx512_vnni_integers;
constinit const integer_loops avx512_vnni_integers{"avx512_vnni", avx512_vnni::arithmetic_of<avx512_vnni::bytes>,
                                                   avx512_vnni::arithmetic_of<avx512_vnni::shorts>,
                                                   avx512_vnni::depthwise, avx512_vnni::add_codes<avx512_vnni::shorts>};
extern const nbits_loops avx512_vnni_nbits;
constinit const nbits_loops avx512_vnni_nbits = avx512_vnni::nbits_of<avx512_vnni::few_bits>;

}  // namespace CAMEO_NAMESPACE::eps
CAMEO_TARGET_END

#if CAMEO_HAS_AMX
CAMEO_TARGET("amx-tile,amx-int8,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")
namespace CAMEO_NAMESPACE::eps {
namespace avx512_vnni {
namespace {
#include "integer_amx-inl.hpp"
}  // namespace
}  // namespace avx512_vnni

extern const integer_loops amx_integers;
constinit const integer_loops amx_integers{"avx512_vnni", avx512_vnni::tiled_bytes,
                                           avx512_vnni::arithmetic_of<avx512_vnni::shorts>, avx512_vnni::depthwise,
                                           avx512_vnni::add_codes<avx512_vnni::shorts>};

}  // namespace CAMEO_NAMESPACE::eps
CAMEO_TARGET_END
#endif
#endif
