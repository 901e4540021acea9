// Functions of one number, such as Abs and Sign, compiled once per instruction set.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>

#include "skeletons/map-inl.hpp"

#if HWY_ONCE
#include "bound_maps.hpp"

namespace CAMEO_NAMESPACE::eps {
template struct map_loops<number_maps>;
}  // namespace CAMEO_NAMESPACE::eps
#endif
