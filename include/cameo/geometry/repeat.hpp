#pragma once
#include <cameo/geometry/broadcast.hpp>
#include <cameo/geometry/listed_sizes.hpp>

namespace CAMEO_NAMESPACE::geometry {

/// A Tile: each axis of the input is repeated `repeats` times. Where these are unknown, they are 1, and the sizes of
/// `out` are unknown. If the rank of the input is unknown, so is that of `out`.
template <size_kind D>
struct basic_tile {
  output_shape<D> out;
  std::int64_t repeats[max_rank]{};
};

/// Checks a Tile of x. Refuses `repeats` unless it has a number of 0 or more for each axis.
template <size_kind D>
constexpr result<basic_tile<D>> tile_of(shape_view<D> x, number_list repeats);
/// Checks a Tile of version 1, which repeats x along one axis.
template <size_kind D>
constexpr result<basic_tile<D>> tile_of_axis(shape_view<D> x, std::int64_t tiles, std::int64_t axis);

/// The common shape of x and the shape `to`, by ONNX's multidirectional broadcasting; unknown if one of both is. `to`
/// is the value of an input, so a run may find negative numbers in it, which are refused.
template <size_kind D>
constexpr result<output_shape<D>> expand_of(shape_view<D> x, shape_view<D> to);

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
}  // namespace detail

template <size_kind D>
constexpr result<basic_tile<D>> tile_of(shape_view<D> x, number_list repeats) {
  basic_tile<D> made;
  for (std::int64_t& times : made.repeats) times = 1;
  if (!x) return made;
  if (status s = check_rank<D>(x.rank(), "the input"); !s) return s;
  made.out = sizes<D>(x.rank(), D{});
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
  if (!x) return tile_of(x, number_list::unknown());
  if (status s = check_rank<D>(x.rank(), "the input"); !s) return s;
  std::int64_t repeats[max_rank]{};
  for (std::int64_t& times : repeats) times = 1;
  const result<std::size_t> at = axis_of<D>(axis, x.rank(), "axis");
  if (!at) return at.error();
  repeats[*at] = tiles;
  return tile_of(x, number_list{std::span<const std::int64_t>{repeats, x.rank()}});
}

template <size_kind D>
constexpr result<output_shape<D>> expand_of(shape_view<D> x, shape_view<D> to) {
  if constexpr (std::same_as<D, std::int64_t>)
    if (status s = sizes_in<D>(to.sizes, "shape").error(); !s) return s;
  return broadcast_of<D>(x, to, "the target");
}

// Compiled in geometry/repeat.cpp, once for loading and once for running.
extern template result<basic_tile<dim>> tile_of(shape_view<dim>, number_list);
extern template result<basic_tile<std::int64_t>> tile_of(shape_view<std::int64_t>, number_list);
extern template result<basic_tile<dim>> tile_of_axis(shape_view<dim>, std::int64_t, std::int64_t);
extern template result<basic_tile<std::int64_t>> tile_of_axis(shape_view<std::int64_t>, std::int64_t, std::int64_t);
extern template result<output_shape<dim>> expand_of(shape_view<dim>, shape_view<dim>);
extern template result<output_shape<std::int64_t>> expand_of(shape_view<std::int64_t>, shape_view<std::int64_t>);

}  // namespace CAMEO_NAMESPACE::geometry
