#pragma once
// Conversions between tensors and xtensor's expressions, in both directions, without copies. This header includes
// xtensor's headers, which the program provides; no other header of cameo includes it.
#include <cameo/core/value.hpp>

#include <xtensor/xadapt.hpp>

namespace CAMEO_NAMESPACE {

namespace interop {

template <class E>
concept xtensor_object = xt::is_xexpression<E>::value;

/// is_dense_xtensor: whether the type guarantees that elements are contiguous in row-major order. owns_xtensor: whether
/// the object owns its elements.
template <class E>
inline constexpr bool is_dense_xtensor = [] {
  if constexpr (xt::has_data_interface<E>::value) return E::static_layout == xt::layout_type::row_major;
  else return false;
}();
template <class E>
inline constexpr bool owns_xtensor = false;
template <class Storage, xt::layout_type L, class Shape, class Tag>
inline constexpr bool owns_xtensor<xt::xarray_container<Storage, L, Shape, Tag>> = true;
template <class Storage, std::size_t N, xt::layout_type L, class Tag>
inline constexpr bool owns_xtensor<xt::xtensor_container<Storage, N, L, Tag>> = true;
template <class T, class Shape, xt::layout_type L, bool Sharable, class Tag>
inline constexpr bool owns_xtensor<xt::xfixed_container<T, Shape, L, Sharable, Tag>> = true;

}  // namespace interop

/// Returns an xarray adaptor over the elements of a tensor, with its shape. It is writable if the view is, owns
/// nothing, and is valid as long as the elements are. The shape is a copy, which may allocate (std::bad_alloc) for a
/// rank above 4.
template <class T>
auto as_xtensor(const tensor_view<T>& tensor) {
  xt::dynamic_shape<std::size_t> shape(tensor.rank());
  for (std::size_t axis = 0; axis < tensor.rank(); ++axis) shape[axis] = std::size_t(tensor.dim(axis));
  return xt::adapt<xt::layout_type::row_major>(+tensor.data(), tensor.size(), xt::no_ownership{}, shape);
}

/// Returns a tensor that borrows the memory of a container, adaptor or contiguous view, to pass it as an input. It is
/// valid until the object is destroyed or changes its size. The object may have at most max_rank axes.
template <class E>
  requires interop::xtensor_object<std::remove_cvref_t<E>>
value as_tensor(E&& expression) {
  using plain = std::remove_cvref_t<E>;
  using scalar = std::remove_const_t<typename plain::value_type>;
  static_assert(interop::is_dense_xtensor<plain>,
                "cameo: only a container, adaptor or contiguous view in row-major layout can be borrowed as a tensor; "
                "assign this to an xt::xarray first");
  static_assert(!interop::owns_xtensor<plain> || std::is_lvalue_reference_v<E>,
                "cameo: the tensor would outlive this temporary; give the array a name");
  static_assert(element_type<scalar>, "cameo: ONNX has no such element type");
  if constexpr (interop::is_dense_xtensor<plain> && element_type<scalar>) {
    extents shape;
    for (const auto size : expression.shape()) shape.push_back(std::int64_t(size));
    return value::tensor(dtype_of<scalar>, shape, expression.data() + expression.data_offset());
  } else {
    return {};
  }
}

}  // namespace CAMEO_NAMESPACE
