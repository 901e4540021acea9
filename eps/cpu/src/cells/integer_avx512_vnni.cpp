// Integer products with AVX-512 VNNI: vpdpbusd for bytes, vpdpwssd for numbers of 16 bits.
#include "integer_target.hpp"

#if CAMEO_CELLS_X86
CAMEO_CELLS_TARGET("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")
namespace cameo::inline CAMEO_ABI::eps {
namespace avx512_vnni {
namespace {

#include "integer_avx512-inl.hpp"
#include "integer_depthwise_vnni-inl.hpp"
#include "integer_line-inl.hpp"

struct bytes : vectors {
  static constexpr int per_cell = 4;
  static CAMEO_CELL_INLINE sum add_products(sum s, cells a, cells b) { return _mm512_dpbusd_epi32(s, a, b); }
};
struct shorts : vectors {
  static constexpr int per_cell = 2;
  static CAMEO_CELL_INLINE sum add_products(sum s, cells a, cells b) { return _mm512_dpwssd_epi32(s, a, b); }
};

}  // namespace
}  // namespace avx512_vnni

constinit const integer_cells avx512_vnni_cells{"avx512_vnni", avx512_vnni::arithmetic_of<avx512_vnni::bytes>,
                                                avx512_vnni::arithmetic_of<avx512_vnni::shorts>,
                                                avx512_vnni::depthwise};

}  // namespace cameo::inline CAMEO_ABI::eps
CAMEO_CELLS_TARGET_END
#endif
