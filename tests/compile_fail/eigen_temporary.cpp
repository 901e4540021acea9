// expect: cameo: the tensor would outlive this temporary; give the matrix a name
// naming: Matrix
#include <cameo/interop/eigen.hpp>

#ifdef CAMEO_MUST_FAIL
cameo::value borrow() { return cameo::as_tensor(Eigen::Vector3f{1, 2, 3}); }
#else
const Eigen::Vector3f vector{1, 2, 3};
cameo::value borrow() { return cameo::as_tensor(vector); }
#endif
