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

CAMEO_INLINE __m512i multiply_bytes(__m512i s, __m512i a, __m512i b) { return _mm512_dpbusd_epi32(s, a, b); }
CAMEO_INLINE __m512i multiply_shorts(__m512i s, __m512i a, __m512i b) { return _mm512_dpwssd_epi32(s, a, b); }
CAMEO_INLINE __m512i bits_at(__m512i groups, int place, __m512i mask) {
  return _mm512_and_si512(_mm512_srli_epi32(groups, unsigned(place)), mask);
}
#include "integer_vnni-inl.hpp"

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
