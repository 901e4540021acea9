// Integer products with vpdpbusd and vpdpwssd of 256 bits. Both AVX-VNNI and AVX512-VNNI have these intrinsics; the
// target of the file that includes this decides their encoding. Tests run them as AVX512-VNNI.
#include "integer_avx2-inl.hpp"
#include "integer_code_sum-inl.hpp"
#include "integer_line-inl.hpp"
#include "nbits_avx2-inl.hpp"
#include "nbits_line-inl.hpp"

CAMEO_INLINE __m256i multiply_bytes(__m256i s, __m256i a, __m256i b) { return _mm256_dpbusd_epi32(s, a, b); }
CAMEO_INLINE __m256i multiply_shorts(__m256i s, __m256i a, __m256i b) { return _mm256_dpwssd_epi32(s, a, b); }
CAMEO_INLINE __m256i bits_at(__m256i groups, int place, __m256i mask) {
  return _mm256_and_si256(_mm256_srli_epi32(groups, place), mask);
}
#include "integer_vnni-inl.hpp"
