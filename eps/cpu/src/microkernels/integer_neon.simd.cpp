// Integer products with smull, which every 64-bit ARM processor has.
#include "integer_loops.hpp"
#include "machine/target.hpp"
#include "nbits_loops.hpp"

#include <algorithm>

#ifdef __aarch64__
#include <cmath>

namespace CAMEO_NAMESPACE::eps {
namespace neon {
namespace {

#include "integer_line-inl.hpp"
#include "integer_neon-inl.hpp"
#include "nbits_line-inl.hpp"
#include "nbits_portable-inl.hpp"

}  // namespace
}  // namespace neon

extern const integer_loops neon_integers;
constinit const integer_loops neon_integers{"neon", neon::arithmetic_of<neon::shorts>,
                                            neon::arithmetic_of<neon::shorts>};
extern const nbits_loops neon_nbits;
constinit const nbits_loops neon_nbits = neon::nbits_of<neon::nbits_vectors>;

}  // namespace CAMEO_NAMESPACE::eps
#endif
