// expect: cameo: a tensor_view refers to its extents, but these are temporary
// naming: float
#include <cameo/cameo.hpp>

float corner(const float* data) {
#ifdef CAMEO_MUST_FAIL
  const cameo::tensor_view<const float> view{data, {2, 3}};
#else
  const cameo::extents shape{2, 3};
  const cameo::tensor_view<const float> view{data, shape};
#endif
  return view(1, 2);
}
