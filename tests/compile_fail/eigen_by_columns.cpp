// expect: cameo: only a Matrix or Array with Eigen::RowMajor, a vector, or a Map of one can be borrowed as a tensor
// naming: Matrix
#include <cameo/interop/eigen.hpp>

#ifdef CAMEO_MUST_FAIL
using matrix = Eigen::MatrixXf;  // column-major
#else
using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
#endif
cameo::value borrow(const matrix& m) { return cameo::as_tensor(m); }
