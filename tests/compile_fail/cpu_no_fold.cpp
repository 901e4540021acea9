// expect: cameo: no fold of functions/folds.hpp computes this operator for an element type of its row
// naming: ArgMax
#include "skeletons/reduce.hpp"

#ifdef CAMEO_MUST_FAIL
using chosen = cameo::op::ArgMax;
#else
using chosen = cameo::op::ReduceMax;
#endif
[[maybe_unused]] constexpr auto loops = cameo::eps::units_of<chosen, float>();
