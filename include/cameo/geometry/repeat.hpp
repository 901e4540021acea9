#pragma once
#include <cameo/geometry/axes.hpp>
#include <cameo/geometry/listed_sizes.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::geometry {

/// A Tile: each axis of the input is repeated `repeats` times. Where these are unknown, they are 1, and the sizes of
/// `out` are unknown.
template <size_kind D>
struct basic_tile {
  sizes<D> out;
  std::int64_t repeats[max_rank]{};
};

/// Checks a Tile of x. Refuses `repeats` unless it has a number of 0 or more for each axis.
template <size_kind D>
constexpr result<basic_tile<D>> tile_of(shape_view<D> x, number_list repeats);
/// Checks a Tile of version 1, which repeats x along one axis.
template <size_kind D>
constexpr result<basic_tile<D>> tile_of_axis(shape_view<D> x, std::int64_t tiles, std::int64_t axis);

/// The common shape of x and the shape `to`, by ONNX's multidirectional broadcasting. `to` is the value of an input, so
/// it may have negative numbers, which are refused.
template <size_kind D>
constexpr result<sizes<D>> expand_of(shape_view<D> x, shape_view<D> to);
/// The strides of x, which has elements, along the axes of its broadcast to `out`: 0 where its elements repeat.
constexpr extents broadcast_strides(const extents& x, const extents& out);

namespace detail {
/// Repeats one axis. The error is that of a product that overflows.
template <size_kind D>
constexpr status repeat_axis(basic_tile<D>& tile, std::size_t axis, std::int64_t times) {
  if (times < 0) return wrong<D>("repeats has ", times, " for axis ", axis, ", must have 0 or more");
  const D both[] = {tile.out[axis], fixed<D>(times)};
  if (!checked_product<D>(both, tile.out[axis]))
    return wrong<D>("axis ", axis, " has ", both[0], " elements, repeated ", times, " times: more than 64 bits count");
  tile.repeats[axis] = times;
  return {};
}

/// Sets `out` to the common size of two axes: a known size wins over a symbol, and any size wins over 1. Returns false
/// if there is none.
template <size_kind D>
[[nodiscard]] constexpr bool broadcast_size(D a, D b, D& out) {
  if (differ(a, b) && !equals(a, 1) && !equals(b, 1)) return false;
  if (equals(a, 1) || are_same(a, b)) out = b;
  else if (equals(b, 1) || is_known(a)) out = a;
  else out = is_known(b) ? b : D{};
  return true;
}
}  // namespace detail

template <size_kind D>
constexpr result<basic_tile<D>> tile_of(shape_view<D> x, number_list repeats) {
  if (status s = check_rank<D>(x.rank(), "the input"); !s) return s;
  basic_tile<D> made{sizes<D>(x.rank(), D{}), {}};
  for (std::int64_t& times : made.repeats) times = 1;
  if (!repeats.is_known) return made;
  if (repeats.numbers.size() != x.rank())
    return wrong<D>("repeats has ", repeats.numbers.size(), " elements, must have ", x.rank(),
                    " for an input of shape ", x.sizes);
  made.out = sizes<D>{x};
  for (std::size_t i = 0; i < x.rank(); ++i)
    if (status s = detail::repeat_axis(made, i, repeats.numbers[i]); !s) return s;
  return made;
}

template <size_kind D>
constexpr result<basic_tile<D>> tile_of_axis(shape_view<D> x, std::int64_t tiles, std::int64_t axis) {
  std::int64_t repeats[max_rank]{};
  for (std::int64_t& times : repeats) times = 1;
  const result<std::size_t> at = axis_of<D>(axis, x.rank(), "axis");
  if (!at) return at.error();
  repeats[*at] = tiles;
  return tile_of(x, number_list{std::span<const std::int64_t>{repeats, x.rank()}});
}

template <size_kind D>
constexpr result<sizes<D>> expand_of(shape_view<D> x, shape_view<D> to) {
  const std::size_t rank = std::max(x.rank(), to.rank());
  if (status s = check_rank<D>(rank); !s) return s;
  if constexpr (std::same_as<D, std::int64_t>)
    if (status s = sizes_in<D>(to.sizes, "shape").error(); !s) return s;
  sizes<D> out(rank, fixed<D>(1));
  for (std::size_t i = 1; i <= rank; ++i) {
    const D from = i <= x.rank() ? x[x.rank() - i] : fixed<D>(1),
            size = i <= to.rank() ? to[to.rank() - i] : fixed<D>(1);
    if (!detail::broadcast_size(from, size, out[rank - i]))
      return wrong<D>("the input has shape ", x.sizes, ", must be one that broadcasts to ", to.sizes);
  }
  return out;
}

constexpr extents broadcast_strides(const extents& x, const extents& out) {
  const extents dense = row_major_strides(x);
  extents strides;
  for (std::size_t i = 0; i < out.rank(); ++i) {
    const std::size_t added = out.rank() - x.rank();
    strides.push_back(i < added || x[i - added] == 1 ? 0 : dense[i - added]);
  }
  return strides;
}

// Compiled in geometry/repeat.cpp, once for loading and once for running.
extern template result<basic_tile<dim>> tile_of(shape_view<dim>, number_list);
extern template result<basic_tile<std::int64_t>> tile_of(shape_view<std::int64_t>, number_list);
extern template result<basic_tile<dim>> tile_of_axis(shape_view<dim>, std::int64_t, std::int64_t);
extern template result<basic_tile<std::int64_t>> tile_of_axis(shape_view<std::int64_t>, std::int64_t, std::int64_t);
extern template result<sizes<dim>> expand_of(shape_view<dim>, shape_view<dim>);
extern template result<sizes<std::int64_t>> expand_of(shape_view<std::int64_t>, shape_view<std::int64_t>);

}  // namespace CAMEO_NAMESPACE::geometry
