// Products with AVX-VNNI.
#include "integer_target.hpp"

#if CAMEO_CELLS_X86
CAMEO_CELLS_TARGET("avxvnni,avx2,fma")
CAMEO_BEGIN_NAMESPACE
namespace eps {
namespace avx_vnni {
namespace {
#include "integer_avx_vnni-inl.hpp"

#include "integer_depthwise_avx2-inl.hpp"
}  // namespace
}  // namespace avx_vnni

constinit const integer_cells avx_vnni_cells{"avx_vnni",
                                             avx_vnni::arithmetic_of<avx_vnni::bytes>,
                                             avx_vnni::arithmetic_of<avx_vnni::shorts>,
                                             avx_vnni::nbits_of<avx_vnni::few_bits>,
                                             avx_vnni::depthwise,
                                             avx_vnni::add_codes<avx_vnni::shorts>};

}  // namespace eps
CAMEO_END_NAMESPACE
CAMEO_CELLS_TARGET_END
#endif
