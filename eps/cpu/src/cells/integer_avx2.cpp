// Integer products with AVX2: vpmaddwd, which is exact where vpmaddubsw would saturate.
#include "integer_target.hpp"

#if CAMEO_CELLS_X86
CAMEO_CELLS_TARGET("avx2,fma")
namespace cameo::inline CAMEO_ABI::eps {
namespace avx2 {
namespace {

#include "integer_avx2-inl.hpp"
#include "integer_line-inl.hpp"
#include "nbits_avx2-inl.hpp"
#include "nbits_line-inl.hpp"

struct shorts : vectors {
  static constexpr int per_cell = 2;
  static CAMEO_CELL_INLINE sum add_products(sum s, cells a, cells b) {
    return _mm256_add_epi32(s, _mm256_madd_epi16(a, b));
  }
};

}  // namespace
}  // namespace avx2

constinit const integer_cells avx2_cells{"avx2", avx2::arithmetic_of<avx2::shorts>, avx2::arithmetic_of<avx2::shorts>,
                                         avx2::nbits_of<avx2::nbits_vectors>};

}  // namespace cameo::inline CAMEO_ABI::eps
CAMEO_CELLS_TARGET_END
#endif
