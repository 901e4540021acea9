#pragma once
#include <cameo/geometry/broadcast.hpp>
#include <cameo/geometry/shape_pattern.hpp>

namespace CAMEO_NAMESPACE::geometry {

/// A reduction over axes, which the output lacks, or has with size 1.
template <size_kind D>
struct basic_reduction {
  axis_list axes;     // the axes that are reduced, where they are known
  output_shape<D> y;  // of unknown rank if that of the input is, or if the axes are and are removed
};
/// A reduction whose sizes are known.
using reduction = basic_reduction<std::int64_t>;
/// Checks the axes of a reduction, which an input or attribute lists. Without any, all axes are reduced, or with
/// `none_when_empty` (noop_with_empty_axes) none. The error is one of wrong().
template <size_kind D>
constexpr result<basic_reduction<D>> reduction_of(shape_view<D> x, const number_list& axes, bool keeps_axes,
                                                  bool none_when_empty);

/// ArgMax or ArgMin along an axis of `size` elements: one index for each of `outer` times `inner` sequences.
template <size_kind D>
struct basic_extreme : basic_slices<D> {
  output_shape<D> y;
};
/// ArgMax or ArgMin of known sizes.
using extreme = basic_extreme<std::int64_t>;
/// Checks an ArgMax or ArgMin. As in ONNX Runtime, a scalar is a vector of one element. If there are outputs, the axis
/// must have an element. The error is one of wrong().
template <size_kind D>
constexpr result<basic_extreme<D>> extreme_of(shape_view<D> x, std::int64_t axis, bool keeps_axis);

/// TopK along an axis of `size` elements, of which `k` are selected. The two outputs have the shape y.
template <size_kind D>
struct basic_top : basic_slices<D> {
  D k{};
  output_shape<D> y;
};
/// TopK of known sizes.
using top = basic_top<std::int64_t>;
/// Checks a TopK. Where K is unknown, it is null, and the axis of the output has the size `otherwise`, such as a
/// symbol. The error is one of wrong().
template <size_kind D>
constexpr result<basic_top<D>> top_of(shape_view<D> x, std::int64_t axis, const std::int64_t* k, D otherwise = {});

/// The elements that an operator normalizes together: along one axis, or along all from an axis on.
enum class normalized : std::uint8_t {
  along_axis,  // LpNormalization, and what has no scalars
  softmax,     // Softmax from version 13 on: along one axis; a scalar is a vector of one element
  flattened    // Softmax before: all axes from `axis` on; none if it is the rank, and then each element is alone
};
/// Checks the axis of a normalization, whose output has the input's shape: `outer` times `inner` sequences of `size`
/// elements. The error is one of wrong().
template <size_kind D>
constexpr result<basic_slices<D>> normalization_of(shape_view<D> x, std::int64_t axis, normalized how);

/// LayerNormalization or a variant: `outer` rows of `size` elements, which are the axes from `axis` on. Statistics have
/// size 1 along these axes.
template <size_kind D>
struct basic_layer_normalization : basic_slices<D> {
  output_shape<D> statistics;
};
/// A LayerNormalization of known sizes.
using layer_normalization = basic_layer_normalization<std::int64_t>;
/// Checks a LayerNormalization: scale and bias broadcast to X. Each shape may be unknown; a bias that is absent is
/// unknown, too. The error is one of wrong().
template <size_kind D>
constexpr result<basic_layer_normalization<D>> layer_normalization_of(shape_view<D> x, std::int64_t axis,
                                                                      shape_view<D> scale = {},
                                                                      shape_view<D> bias = {});

/// Checks a BatchNormalization of X [outer, size (channels), inner...]; a vector is a batch with one channel. Without
/// `is_spatial` (until version 9), each element of one X is a channel. The parameters have one element for each
/// channel. Each shape may be unknown. The error is one of wrong(), with the parameter's name.
template <size_kind D>
constexpr result<basic_slices<D>> batch_normalization_of(shape_view<D> x, bool is_spatial,
                                                         std::span<const named_shape<D>> parameters);

namespace detail {
/// Makes `left` the shape without the axes of a mask (axis_list::mask), or with size 1 in their place.
template <size_kind D>
constexpr void reduce(shape_view<D> x, std::uint32_t axes, bool keeps_axes, output_shape<D>& left) {
  left.is_known = true;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (!(axes >> i & 1)) left.push_back(x[i]);
    else if (keeps_axes) left.push_back(fixed<D>(1));
  }
}
/// Returns whether a shape certainly has elements along all axes but one.
template <size_kind D>
constexpr bool has_others(shape_view<D> x, std::size_t axis) {
  for (std::size_t i = 0; i < x.rank(); ++i)
    if (i != axis && (!is_known(x[i]) || equals(x[i], 0))) return false;
  return true;
}
}  // namespace detail

template <size_kind D>
constexpr result<basic_reduction<D>> reduction_of(shape_view<D> x, const number_list& axes, bool keeps_axes,
                                                  bool none_when_empty) {
  return {std::in_place, [&](basic_reduction<D>& made) -> status {
            if (!x) return {};
            if (status s = check_rank<D>(x.rank(), "the input"); !s) return s;
            if (axes.is_given && !axes.is_known) {
              if (keeps_axes) made.y = output_shape<D>{sizes<D>(x.rank(), D{})};
              return {};
            }
            if (status s = detail::add_axes<D>(made.axes, axes.numbers, x.rank(), "axes", false); !s) return s;
            for (std::size_t i = 0; axes.numbers.empty() && !none_when_empty && i < x.rank(); ++i) made.axes.add(i);
            detail::reduce(x, made.axes.mask, keeps_axes, made.y);
            return {};
          }};
}

template <size_kind D>
constexpr result<basic_extreme<D>> extreme_of(shape_view<D> x, std::int64_t axis, bool keeps_axis) {
  return {std::in_place, [&](basic_extreme<D>& made) -> status {
            if (!x) return {};
            if (status s = check_rank<D>(x.rank(), "the input"); !s) return s;
            const D one[] = {fixed<D>(1)};
            const bool is_scalar = x.rank() == 0;
            const result<basic_slices<D>> along = slices_of<D>(is_scalar ? shape_view<D>{one} : x, axis);
            if (!along) return along.error();
            static_cast<basic_slices<D>&>(made) = *along;
            if (equals(made.size, 0) && detail::has_others(x, made.axis))
              return wrong<D>("the input has shape ", x.sizes, ", must have elements along axis ", made.axis,
                              " to choose from");
            detail::reduce(x, std::uint32_t{1} << made.axis, keeps_axis, made.y);
            return {};
          }};
}

template <size_kind D>
constexpr result<basic_top<D>> top_of(shape_view<D> x, std::int64_t axis, const std::int64_t* k, D otherwise) {
  basic_top<D> made;
  if (!x) return made;
  if (status s = check_rank<D>(x.rank(), "the input"); !s) return s;
  const result<basic_slices<D>> along = slices_of<D>(x, axis);
  if (!along) return along.error();
  static_cast<basic_slices<D>&>(made) = *along;
  if (k && (*k < 0 || (is_known(made.size) && *k > number_of(made.size))))
    return wrong<D>("K is ", *k, ", must be from 0 to ", made.size, ", the size of axis ", made.axis);
  made.k = k ? fixed<D>(*k) : otherwise;
  made.y.assign(x.sizes);
  made.y[made.axis] = made.k;
  return made;
}

template <size_kind D>
constexpr result<basic_slices<D>> normalization_of(shape_view<D> x, std::int64_t axis, normalized how) {
  const std::size_t rank = x.rank();
  if (!x) return basic_slices<D>{};
  if (status s = check_count(x); !s) return s;
  if (rank == 0 && how != normalized::along_axis && (axis == 0 || axis == -1)) return slices_at(x, 0, 0);
  if (how == normalized::flattened) {
    const result<std::size_t> first = cut_of<D>(axis, rank);
    if (!first) return first.error();
    return slices_at(x, *first, rank);
  }
  const result<std::size_t> found = axis_of<D>(axis, rank);
  if (!found) return found.error();
  return slices_at(x, *found, *found + 1);
}

template <size_kind D>
constexpr result<basic_layer_normalization<D>> layer_normalization_of(shape_view<D> x, std::int64_t axis,
                                                                      shape_view<D> scale, shape_view<D> bias) {
  basic_layer_normalization<D> made;
  if (!x) return made;
  if (status s = check_rank<D>(x.rank(), "X"); !s) return s;
  const result<std::size_t> found = axis_of<D>(axis, x.rank());
  if (!found) return found.error();
  if (status s = check_count(x, "X"); !s) return s;
  if (status s = check_broadcast(scale, x, "scale"); !s) return s;
  if (status s = check_broadcast(bias, x, "B"); !s) return s;
  static_cast<basic_slices<D>&>(made) = slices_at(x, *found, x.rank());
  made.statistics.assign(x.sizes);
  for (std::size_t i = *found; i < x.rank(); ++i) made.statistics[i] = fixed<D>(1);
  return made;
}

template <size_kind D>
constexpr result<basic_slices<D>> batch_normalization_of(shape_view<D> x, bool is_spatial,
                                                         std::span<const named_shape<D>> parameters) {
  if (!x) return basic_slices<D>{};
  if (x.rank() == 0) return wrong<D>("X has shape [] of rank 0, must have rank 1 or more");
  if (status s = check_count(x, "X"); !s) return s;
  const bool has_channels = is_spatial && x.rank() > 1;
  const basic_slices<D> made = slices_at(x, 1, x.rank() == 1 ? 1 : is_spatial ? 2 : x.rank());
  const sizes<D> list{made.size};
  for (const named_shape<D>& each : parameters) {
    if (!each.shape) continue;
    if (has_channels) {
      if (status s = check_same<D>(each.shape, list, each.name); !s) return s;
    } else if (D count{}; !checked_product(each.shape.sizes, count) || differ(count, made.size)) {
      return wrong<D>(each.name, " has shape ", each.shape.sizes, ", must have ", made.size,
                      made.size == fixed<D>(1) ? " element" : " elements", ", one for each channel");
    }
  }
  return made;
}

// Compiled in geometry/reduction.cpp, once for loading and once for running.
extern template result<basic_reduction<dim>> reduction_of(shape_view<dim>, const number_list&, bool, bool);
extern template result<reduction> reduction_of(shape_view<std::int64_t>, const number_list&, bool, bool);
extern template result<basic_extreme<dim>> extreme_of(shape_view<dim>, std::int64_t, bool);
extern template result<extreme> extreme_of(shape_view<std::int64_t>, std::int64_t, bool);
extern template result<basic_top<dim>> top_of(shape_view<dim>, std::int64_t, const std::int64_t*, dim);
extern template result<top> top_of(shape_view<std::int64_t>, std::int64_t, const std::int64_t*, std::int64_t);
extern template result<basic_slices<dim>> normalization_of(shape_view<dim>, std::int64_t, normalized);
extern template result<slices> normalization_of(shape_view<std::int64_t>, std::int64_t, normalized);
extern template result<basic_layer_normalization<dim>> layer_normalization_of(shape_view<dim>, std::int64_t,
                                                                              shape_view<dim>, shape_view<dim>);
extern template result<layer_normalization> layer_normalization_of(shape_view<std::int64_t>, std::int64_t,
                                                                   shape_view<std::int64_t>, shape_view<std::int64_t>);
extern template result<basic_slices<dim>> batch_normalization_of(shape_view<dim>, bool,
                                                                 std::span<const named_shape<dim>>);
extern template result<slices> batch_normalization_of(shape_view<std::int64_t>, bool,
                                                      std::span<const named_shape<std::int64_t>>);

}  // namespace CAMEO_NAMESPACE::geometry
