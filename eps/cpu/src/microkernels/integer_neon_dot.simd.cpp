// Integer products with ARM's DotProd: sdot adds four products of s8 to each sum. Rows are u8; 128 is subtracted before
// they are multiplied.
#include "integer_loops.hpp"
#include "machine/target.hpp"
#include "nbits_loops.hpp"

#include <algorithm>

#if CAMEO_HAS_NEON_DOT
#include <cmath>

CAMEO_TARGET("arch=armv8.2-a+dotprod")
namespace CAMEO_NAMESPACE::eps {
namespace neon_dot {
namespace {

#include "integer_line-inl.hpp"
#include "integer_neon-inl.hpp"
#include "nbits_line-inl.hpp"
#include "nbits_portable-inl.hpp"
#include "nbits_portable_dot-inl.hpp"

struct bytes : vectors {
  static constexpr int per_cell = 4, middle = 128;
  static CAMEO_INLINE cells broadcast(const std::byte* p) {
    return veorq_s8(vectors::broadcast(p), vdupq_n_s8(-middle));
  }
  static CAMEO_INLINE sum add_products(sum s, cells a, cells b) { return vdotq_s32(s, a, b); }
};

}  // namespace
}  // namespace neon_dot

extern const integer_loops neon_dot_integers;
constinit const integer_loops neon_dot_integers{"neon_dot", neon_dot::arithmetic_of<neon_dot::bytes>,
                                                neon_dot::arithmetic_of<neon_dot::shorts>};
extern const nbits_loops neon_dot_nbits;
constinit const nbits_loops neon_dot_nbits = neon_dot::nbits_of<neon_dot::few_bits<neon_dot::bytes>>;

}  // namespace CAMEO_NAMESPACE::eps
CAMEO_TARGET_END
#endif
