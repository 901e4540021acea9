// Integer products with ARM's I8MM: usdot adds four products of u8 and s8 to each sum.
#include "integer_loops.hpp"
#include "machine/target.hpp"
#include "nbits_loops.hpp"

#include <algorithm>

#if CAMEO_HAS_NEON_DOT
#include <cmath>

CAMEO_TARGET("arch=armv8.2-a+i8mm")
namespace CAMEO_NAMESPACE::eps {
namespace neon_i8mm {
namespace {

#include "integer_line-inl.hpp"
#include "integer_neon-inl.hpp"
#include "nbits_line-inl.hpp"
#include "nbits_portable-inl.hpp"
#include "nbits_portable_dot-inl.hpp"

struct bytes : vectors {
  static constexpr int per_cell = 4;
  static CAMEO_INLINE sum add_products(sum s, cells a, cells b) { return vusdotq_s32(s, vreinterpretq_u8_s8(a), b); }
};

}  // namespace
}  // namespace neon_i8mm

extern const integer_loops neon_i8mm_integers;
constinit const integer_loops neon_i8mm_integers{"neon_i8mm", neon_i8mm::arithmetic_of<neon_i8mm::bytes>,
                                                 neon_i8mm::arithmetic_of<neon_i8mm::shorts>};
extern const nbits_loops neon_i8mm_nbits;
constinit const nbits_loops neon_i8mm_nbits = neon_i8mm::nbits_of<neon_i8mm::few_bits<neon_i8mm::bytes>>;

}  // namespace CAMEO_NAMESPACE::eps
CAMEO_TARGET_END
#endif
