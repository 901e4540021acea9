// Integer products with what every 64-bit ARM processor has: smull.
#include "integer_target.hpp"

#if CAMEO_CELLS_NEON
#include <cmath>

CAMEO_BEGIN_NAMESPACE
namespace eps {
namespace neon {
namespace {

#include "integer_line-inl.hpp"
#include "integer_neon-inl.hpp"
#include "nbits_line-inl.hpp"
#include "nbits_portable-inl.hpp"

}  // namespace
}  // namespace neon

constinit const integer_cells neon_cells{"neon", neon::arithmetic_of<neon::shorts>, neon::arithmetic_of<neon::shorts>,
                                         neon::nbits_of<neon::nbits_vectors>};

}  // namespace eps
CAMEO_END_NAMESPACE
#endif
