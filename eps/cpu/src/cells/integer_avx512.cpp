// Integer products with AVX-512 that has no instructions for sums of bytes: vpmaddwd.
#include "integer_target.hpp"

#if CAMEO_CELLS_X86
CAMEO_CELLS_TARGET("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
namespace cameo::inline CAMEO_ABI::eps {
namespace avx512 {
namespace {

#include "integer_avx512-inl.hpp"
#include "integer_line-inl.hpp"

struct shorts : vectors {
  static constexpr int per_cell = 2;
  static CAMEO_CELL_INLINE sum add_products(sum s, cells a, cells b) {
    return _mm512_add_epi32(s, _mm512_madd_epi16(a, b));
  }
};

}  // namespace
}  // namespace avx512

constinit const integer_cells avx512_cells{"avx512bw", avx512::arithmetic_of<avx512::shorts>,
                                           avx512::arithmetic_of<avx512::shorts>};

}  // namespace cameo::inline CAMEO_ABI::eps
CAMEO_CELLS_TARGET_END
#endif
