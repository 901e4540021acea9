// expect: cameo: only a container, adaptor or contiguous view in row-major layout can be borrowed as a tensor
// naming: xarray
#include <cameo/interop/xtensor.hpp>

#include <xtensor/xarray.hpp>

#ifdef CAMEO_MUST_FAIL
using array = xt::xarray<float, xt::layout_type::column_major>;
#else
using array = xt::xarray<float>;
#endif
cameo::value borrow(const array& a) { return cameo::as_tensor(a); }
