#pragma once
#include <cameo/geometry/window.hpp>

namespace CAMEO_NAMESPACE::geometry {

/// A convolution of X [N, C, spatial...] with W [maps, C / groups, kernel...] and a bias [maps].
template <size_kind D>
struct basic_conv {
  std::int64_t groups = 1;
  D images{}, channels{}, maps{};   // channels: of a group
  basic_placed_window<D> window{};  // of rank 0 where the rank of X is unknown
};
/// A convolution whose sizes are known.
using conv = basic_conv<std::int64_t>;

/// Checks a Conv or one of its variants, in 1 group or more. X, W and bias may be unknown; a bias that is absent is
/// unknown, too.
template <size_kind D>
constexpr result<basic_conv<D>> conv_of(const window& shape, std::int64_t groups, shape_view<D> x, shape_view<D> w,
                                        shape_view<D> bias);
/// Checks a ConvTranspose; W is [C, maps / groups, kernel...]. The window is that of window::place_transposed().
template <size_kind D>
constexpr result<basic_conv<D>> conv_transpose_of(const window& shape, std::int64_t groups, shape_view<D> x,
                                                  shape_view<D> w, shape_view<D> bias,
                                                  std::span<const std::int64_t> output_padding,
                                                  std::span<const std::int64_t> output_shape);

namespace detail {
template <size_kind D>
constexpr status check_ranks(shape_view<D> x, shape_view<D> w) {
  if (x && x.rank() < 3) return wrong<D>("X has shape ", x.sizes, " of rank ", x.rank(), ", must have rank 3 or more");
  if (w && (w.rank() < 3 || (x && w.rank() != x.rank()))) {
    const std::size_t wanted = x ? x.rank() : 3;
    return wrong<D>("W has shape ", w.sizes, " of rank ", w.rank(), ", must have rank ", wanted,
                    x ? ", as X" : " or more");
  }
  return {};
}
template <size_kind D>
constexpr status check_bias(shape_view<D> bias, D maps) {
  if (!bias) return {};
  if (bias.rank() != 1)
    return wrong<D>("the bias has shape ", bias.sizes, " of rank ", bias.rank(), ", must have rank 1");
  if (is_known(bias[0]) && is_known(maps) && number_of(bias[0]) != number_of(maps))
    return wrong<D>("the bias has ", bias[0], " elements, must have one for each of ", maps, " maps");
  return {};
}
}  // namespace detail

template <size_kind D>
constexpr result<basic_conv<D>> conv_of(const window& shape, std::int64_t groups, shape_view<D> x, shape_view<D> w,
                                        shape_view<D> bias) {
  basic_conv<D> made;
  made.groups = groups;
  if (status s = detail::check_ranks(x, w); !s) return s;
  if (w) {
    made.maps = w[0], made.channels = w[1];
    if (is_known(made.maps) && number_of(made.maps) % groups != 0)
      return wrong<D>("W has ", made.maps, " maps, must have a multiple of group, ", groups);
  }
  if (x && w && is_known(x[1]) && is_known(made.channels)) {
    std::int64_t needed = 0;
    if (!checked_multiply(number_of(made.channels), groups, needed) || needed != number_of(x[1]))
      return wrong<D>("X has ", x[1], " channels, must have ", made.channels, " for each of ", groups, " groups");
  }
  if (status s = detail::check_bias(bias, made.maps); !s) return s;
  if (!x) return made;
  made.images = x[0];
  result<basic_placed_window<D>> placed = shape.place(x, w ? shape_view<D>{w.sizes.subspan(2)} : shape_view<D>{});
  if (!placed) return placed.error();
  made.window = *placed;
  return made;
}

template <size_kind D>
constexpr result<basic_conv<D>> conv_transpose_of(const window& shape, std::int64_t groups, shape_view<D> x,
                                                  shape_view<D> w, shape_view<D> bias,
                                                  std::span<const std::int64_t> output_padding,
                                                  std::span<const std::int64_t> output_shape) {
  basic_conv<D> made;
  made.groups = groups;
  if (status s = detail::check_ranks(x, w); !s) return s;
  if (w) {
    if (is_known(w[0]) && number_of(w[0]) % groups != 0)
      return wrong<D>("W has ", w[0], " channels, must have a multiple of group, ", groups);
    if (x && is_known(w[0]) && is_known(x[1]) && number_of(w[0]) != number_of(x[1]))
      return wrong<D>("X has ", x[1], " channels, must have those of W, ", w[0]);
    if (is_known(w[0])) made.channels = fixed<D>(number_of(w[0]) / groups);
    std::int64_t maps = 0;
    if (is_known(w[1])) {
      if (!checked_multiply(number_of(w[1]), groups, maps))
        return wrong<D>("W has ", w[1], " maps for each of ", groups, " groups: more than 64 bits count");
      made.maps = fixed<D>(maps);
    } else if (groups == 1) {
      made.maps = w[1];
    }
  }
  if (status s = detail::check_bias(bias, made.maps); !s) return s;
  if (!x) return made;
  made.images = x[0];
  result<basic_placed_window<D>> placed =
      shape.place_transposed(x, w ? shape_view<D>{w.sizes.subspan(2)} : shape_view<D>{}, output_padding, output_shape);
  if (!placed) return placed.error();
  made.window = *placed;
  for (std::size_t i = 0; i < made.window.rank; ++i)
    if (is_known(made.window.axes[i].out) && number_of(made.window.axes[i].out) == 0)
      return wrong<D>("spatial axis ", i, " of X has no elements, must have 1 or more");
  return made;
}

// Compiled in geometry/conv.cpp, once for loading and once for running.
extern template result<basic_conv<dim>> conv_of(const window&, std::int64_t, shape_view<dim>, shape_view<dim>,
                                                shape_view<dim>);
extern template result<basic_conv<std::int64_t>> conv_of(const window&, std::int64_t, shape_view<std::int64_t>,
                                                         shape_view<std::int64_t>, shape_view<std::int64_t>);
extern template result<basic_conv<dim>> conv_transpose_of(const window&, std::int64_t, shape_view<dim>, shape_view<dim>,
                                                          shape_view<dim>, std::span<const std::int64_t>,
                                                          std::span<const std::int64_t>);
extern template result<basic_conv<std::int64_t>> conv_transpose_of(const window&, std::int64_t,
                                                                   shape_view<std::int64_t>, shape_view<std::int64_t>,
                                                                   shape_view<std::int64_t>,
                                                                   std::span<const std::int64_t>,
                                                                   std::span<const std::int64_t>);

}  // namespace CAMEO_NAMESPACE::geometry
