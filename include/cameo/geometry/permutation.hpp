#pragma once
#include <cameo/geometry/axes.hpp>

namespace CAMEO_NAMESPACE::geometry {

/// A permutation of the axes of a tensor: axis i of the output is axis `axes[i]` of the input. If the rank of the input
/// is unknown, so is that of `out`, and there are no axes.
template <size_kind D>
struct basic_permutation {
  output_shape<D> out;
  std::uint8_t axes[max_rank]{};

  /// Permutes a list that has an element for each axis of the input, such as its strides.
  constexpr extents permuted(const extents& list) const {
    extents made;
    for (std::size_t i = 0; i < out.rank(); ++i) made.push_back(list[axes[i]]);
    return made;
  }
};
/// A permutation of axes of known sizes.
using permutation = basic_permutation<std::int64_t>;

/// Checks a Transpose of x. `perm` has each axis once; if it is empty, the order of axes is reversed.
template <size_kind D>
constexpr result<basic_permutation<D>> transpose_of(shape_view<D> x, std::span<const std::int64_t> perm);

template <size_kind D>
constexpr result<basic_permutation<D>> transpose_of(shape_view<D> x, std::span<const std::int64_t> perm) {
  basic_permutation<D> made;
  if (!x) return made;
  if (status s = check_rank<D>(x.rank(), "the input"); !s) return s;
  if (!perm.empty() && perm.size() != x.rank())
    return wrong<D>("attribute perm has ", perm.size(), " axes, must have ", x.rank(), " for an input of shape ",
                    x.sizes);
  const result<axis_list> order = axes_of<D>(perm, x.rank(), "attribute perm");
  if (!order) return order.error();
  made.out = sizes<D>{x};
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const std::size_t axis = perm.empty() ? x.rank() - 1 - i : (*order)[i];
    made.out[i] = x[axis];
    made.axes[i] = std::uint8_t(axis);
  }
  return made;
}

// Compiled in geometry/permutation.cpp, once for loading and once for running.
extern template result<basic_permutation<dim>> transpose_of(shape_view<dim>, std::span<const std::int64_t>);
extern template result<permutation> transpose_of(shape_view<std::int64_t>, std::span<const std::int64_t>);

}  // namespace CAMEO_NAMESPACE::geometry
