// Numbers of one element, once per instruction set.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>

#include "skeletons/map-inl.hpp"

#if HWY_ONCE
#include "bound_maps.hpp"

CAMEO_BEGIN_NAMESPACE
namespace eps {
template struct map_loops<number_maps>;
}  // namespace eps
CAMEO_END_NAMESPACE
#endif
