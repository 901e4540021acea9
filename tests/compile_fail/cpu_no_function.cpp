// expect: cameo: no function of functions/zips-inl.hpp computes this operator for an element type of its row
// naming: BitwiseAnd
#include "machine/simd.hpp"

#include <hwy/highway.h>
#include "skeletons/zip-inl.hpp"

#ifdef CAMEO_MUST_FAIL
using chosen = float;
#else
using chosen = std::int32_t;
#endif
template cameo::eps::binary_row cameo::eps::zip_loop<cameo::op::BitwiseAnd, chosen>();
