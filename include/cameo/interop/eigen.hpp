#pragma once
// Conversions between tensors and Eigen's matrices and vectors, in both directions, without copies. This header
// includes Eigen's headers, which the program provides; no other header of cameo includes it.
#include <cameo/core/result.hpp>
#include <cameo/core/value.hpp>

#include <Eigen/Core>

namespace CAMEO_NAMESPACE {

namespace interop {

template <class T, class Plain>
using eigen_map = Eigen::Map<std::conditional_t<std::is_const_v<T>, const Plain, Plain>>;
template <class T>
using eigen_matrix_map =
    eigen_map<T, Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
template <class T>
using eigen_vector_map = eigen_map<T, Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, 1>>;

template <class M>
concept eigen_object = requires(const M& m) { []<class Derived>(const Eigen::EigenBase<Derived>&) {}(m); };

/// `dense`: whether the type guarantees that elements are contiguous, row by row. `owns`: whether the object owns them.
template <class M>
struct eigen_layout {
  static constexpr bool dense = false, owns = false;
};
template <class T, int Rows, int Columns, int Options, int MaxRows, int MaxColumns>
struct eigen_layout<Eigen::Matrix<T, Rows, Columns, Options, MaxRows, MaxColumns>> {
  static constexpr bool dense = (Options & Eigen::RowMajor) || Rows == 1 || Columns == 1, owns = true;
};
template <class T, int Rows, int Columns, int Options, int MaxRows, int MaxColumns>
struct eigen_layout<Eigen::Array<T, Rows, Columns, Options, MaxRows, MaxColumns>> {
  static constexpr bool dense = (Options & Eigen::RowMajor) || Rows == 1 || Columns == 1, owns = true;
};
template <class Plain, int Options>
struct eigen_layout<Eigen::Map<Plain, Options, Eigen::Stride<0, 0>>> {
  static constexpr bool dense = eigen_layout<std::remove_const_t<Plain>>::dense, owns = false;
};

}  // namespace interop

/// Returns a row-major matrix over the elements of a tensor of rank 2. It is writable if the view is, owns nothing, and
/// is valid as long as the elements are. INVALID_ARGUMENT for another rank.
template <class T>
result<interop::eigen_matrix_map<T>> as_eigen_matrix(const tensor_view<T>& tensor) {
  if (tensor.rank() != 2) return status{status_code::invalid_argument, "a matrix needs a tensor of rank 2"};
  return interop::eigen_matrix_map<T>{tensor.data(), tensor.dim(0), tensor.dim(1)};
}

/// Returns a column vector over the elements of a tensor of rank 1. It is writable if the view is, owns nothing, and is
/// valid as long as the elements are. INVALID_ARGUMENT for another rank.
template <class T>
result<interop::eigen_vector_map<T>> as_eigen_vector(const tensor_view<T>& tensor) {
  if (tensor.rank() != 1) return status{status_code::invalid_argument, "a vector needs a tensor of rank 1"};
  return interop::eigen_vector_map<T>{tensor.data(), tensor.dim(0)};
}

/// Returns a tensor that borrows the memory of a matrix, array or map, to pass it as an input. The rank is 1 if the
/// type is a vector, otherwise 2. The tensor is valid until the object is destroyed or changes its size.
template <class M>
  requires interop::eigen_object<std::remove_cvref_t<M>>
value as_tensor(M&& matrix) {
  using plain = std::remove_cvref_t<M>;
  using layout = interop::eigen_layout<plain>;
  using scalar = typename plain::Scalar;
  static_assert(layout::dense,
                "cameo: only a Matrix or Array with Eigen::RowMajor, a vector, or a Map of one can be borrowed as a "
                "tensor; assign this to one first");
  static_assert(!layout::owns || std::is_lvalue_reference_v<M>,
                "cameo: the tensor would outlive this temporary; give the matrix a name");
  static_assert(element_type<scalar>, "cameo: ONNX has no such element type");
  if constexpr (layout::dense && element_type<scalar>) {
    extents shape{matrix.rows(), matrix.cols()};
    if (plain::IsVectorAtCompileTime) shape = {matrix.size()};
    return value::tensor(dtype_of<scalar>, shape, matrix.data());
  } else {
    return {};
  }
}

}  // namespace CAMEO_NAMESPACE
