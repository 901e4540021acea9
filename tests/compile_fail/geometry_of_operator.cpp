// expect: cameo: geometry_of has no geometry of this operator
#include <cameo/op/geometry_of.hpp>

#ifdef CAMEO_MUST_FAIL
using Op = cameo::op::Abs;
#else
using Op = cameo::op::MatMul;
#endif
auto geometry(const cameo::node_shapes<cameo::dim>& shapes) { return cameo::geometry_of<Op>({}, shapes); }
