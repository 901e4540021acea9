// Integer products with AVX-VNNI.
#include "integer_loops.hpp"
#include "machine/target.hpp"
#include "nbits_loops.hpp"

#include <algorithm>

#ifdef __x86_64__
CAMEO_TARGET("avxvnni,avx2,fma")
namespace CAMEO_NAMESPACE::eps {
namespace avx_vnni {
namespace {
#include "integer_avx_vnni-inl.hpp"

#include "integer_depthwise_avx2-inl.hpp"
}  // namespace
}  // namespace avx_vnni

extern const integer_loops avx_vnni_integers;
constinit const integer_loops avx_vnni_integers{"avx_vnni", avx_vnni::arithmetic_of<avx_vnni::bytes>,
                                                avx_vnni::arithmetic_of<avx_vnni::shorts>, avx_vnni::depthwise,
                                                avx_vnni::add_codes<avx_vnni::shorts>};
extern const nbits_loops avx_vnni_nbits;
constinit const nbits_loops avx_vnni_nbits = avx_vnni::nbits_of<avx_vnni::few_bits>;

}  // namespace CAMEO_NAMESPACE::eps
CAMEO_TARGET_END
#endif
