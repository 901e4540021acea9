#pragma once
#include <cameo/geometry/axes.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::geometry {

/// An axis that is cut and padded: elements [start, start + size) of the input are at [offset, offset + size) of the
/// output, which has `total`. Where the size of the input is unknown, so are both sizes, unless nothing changes.
template <size_kind D>
struct basic_padded_axis {
  std::int64_t start = 0, offset = 0;
  D size{}, total{};
};
/// An axis whose sizes are known.
using padded_axis = basic_padded_axis<std::int64_t>;

/// The padding of each axis of a tensor. If the rank of the input is unknown, so is that of `out`.
template <size_kind D>
struct basic_pad {
  output_shape<D> out;
  basic_padded_axis<D> axes[max_rank]{};

  /// The sizes of the part of the input that is kept.
  constexpr sizes<D> kept() const {
    sizes<D> made;
    for (std::size_t i = 0; i < out.rank(); ++i) made.push_back(axes[i].size);
    return made;
  }
  /// The position of that part in an input, or an output, with these strides.
  constexpr std::int64_t source(const extents& strides) const { return place(&basic_padded_axis<D>::start, strides); }
  constexpr std::int64_t target(const extents& strides) const { return place(&basic_padded_axis<D>::offset, strides); }

 private:
  constexpr std::int64_t place(std::int64_t basic_padded_axis<D>::* at, const extents& strides) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < out.rank(); ++i) {
      std::int64_t distance = 0;  // of a tensor without elements, strides may be any numbers
      static_cast<void>(checked_multiply(axes[i].*at, strides[i], distance));
      static_cast<void>(checked_add(sum, distance, sum));
    }
    return sum;
  }
};

/// The elements that a Pad adds: a constant, or elements of the input.
enum class filling : std::uint8_t { constant, elements };

/// Checks a Pad of x. `pads` has the number of elements to add before each axis, then those to add after each; negative
/// ones remove elements. Without `axes` it is for all axes; of an axis that is named twice, the last pads count.
/// Refuses to remove more elements than an axis has, and to fill with elements of the input where none are left. If a
/// list is unknown, so are all sizes.
template <size_kind D>
constexpr result<basic_pad<D>> pad_of(shape_view<D> x, number_list pads, number_list axes, filling with);

/// Checks a CenterCropPad of x: each axis is cut or padded to its size in `shape`, equally on both sides; an odd
/// element is cut or added at the end. Without `axes`, `shape` is for all axes. An axis may occur once. If `shape` is
/// unknown, so are all sizes.
template <size_kind D>
constexpr result<basic_pad<D>> center_crop_pad_of(shape_view<D> x, number_list axes, shape_view<D> shape);

namespace detail {
/// Sets the sizes of an axis of known size, and refuses pads that remove more than it has.
template <size_kind D>
constexpr status pad_known_axis(basic_padded_axis<D>& a, std::int64_t size, std::int64_t before, std::int64_t after,
                                std::size_t axis) {
  const std::int64_t cut_before = std::min<std::int64_t>(before, 0), cut_after = std::min<std::int64_t>(after, 0);
  if (cut_before < -size || cut_after < -size || -cut_before > size + cut_after)
    return wrong<D>("pads has ", before, " and ", after, " for axis ", axis, ", must not remove more than its ", size,
                    " elements");
  const std::int64_t kept = size + cut_before + cut_after;
  std::int64_t total = 0;
  if (!checked_add(kept, before - cut_before, total) || !checked_add(total, after - cut_after, total))
    return wrong<D>("pads has ", before, " and ", after, " for axis ", axis,
                    ", which gets more than 2^63 - 1 elements");
  a = {-cut_before, before - cut_before, fixed<D>(kept), fixed<D>(total)};
  return {};
}

/// Refuses an axis of which nothing is left to fill an output with that has elements.
template <size_kind D>
constexpr status check_sources(const basic_pad<D>& pad) {
  for (const D& size : pad.out)
    if (!is_known(size) || number_of(size) == 0) return {};
  for (std::size_t i = 0; i < pad.out.rank(); ++i)
    if (equals(pad.axes[i].size, 0))
      return wrong<D>("axis ", i, " of the input has 0 elements, must have 1 or more to repeat them");
  return {};
}
}  // namespace detail

template <size_kind D>
constexpr result<basic_pad<D>> pad_of(shape_view<D> x, number_list pads, number_list axes, filling with) {
  basic_pad<D> made;
  if (!x) return made;
  if (status s = check_rank<D>(x.rank(), "the input"); !s) return s;
  made.out = sizes<D>(x.rank(), D{});
  if (!pads.is_known || (axes.is_given && !axes.is_known)) return made;
  const std::size_t named = axes.is_known ? axes.numbers.size() : x.rank();
  if (pads.numbers.size() != 2 * named)
    return wrong<D>("pads has ", pads.numbers.size(), " elements, must have ", 2 * named, ", two for each axis");
  std::int64_t before[max_rank]{}, after[max_rank]{};
  for (std::size_t i = 0; i < named; ++i) {
    const result<std::size_t> axis = axis_of<D>(axes.is_known ? axes.numbers[i] : std::int64_t(i), x.rank(), "axes");
    if (!axis) return axis.error();
    before[*axis] = pads.numbers[i], after[*axis] = pads.numbers[i + named];
  }
  for (std::size_t i = 0; i < x.rank(); ++i) {
    basic_padded_axis<D>& a = made.axes[i];
    if (is_known(x[i])) {
      if (status s = detail::pad_known_axis(a, number_of(x[i]), before[i], after[i], i); !s) return s;
    } else if (before[i] == 0 && after[i] == 0) {
      a.size = a.total = x[i];
    }
    made.out[i] = a.total;
  }
  if (with == filling::elements)
    if (status s = detail::check_sources(made); !s) return s;
  return made;
}

template <size_kind D>
constexpr result<basic_pad<D>> center_crop_pad_of(shape_view<D> x, number_list axes, shape_view<D> shape) {
  basic_pad<D> made;
  if (!x) return made;
  if (status s = check_rank<D>(x.rank(), "the input"); !s) return s;
  made.out = sizes<D>(x.rank(), D{});
  if (!shape) return made;
  axis_list named = axis_list::all(x.rank());
  if (axes.is_known) {
    const result<axis_list> found = axes_of<D>(axes.numbers, x.rank(), "attribute axes");
    if (!found) return found.error();
    named = *found;
  }
  if (shape.rank() != named.size())
    return wrong<D>("shape has ", shape.rank(), " elements, must have ", named.size(), ", one for each axis");
  made.out = sizes<D>{x};
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (is_known(shape[i]) && number_of(shape[i]) < 0)
      return wrong<D>("shape has ", shape[i], " at ", i, ", must be 0 or more");
    made.out[named[i]] = shape[i];
  }
  for (std::size_t i = 0; i < x.rank(); ++i) {
    basic_padded_axis<D>& a = made.axes[i];
    a.total = made.out[i];
    if (are_same(x[i], a.total)) a.size = x[i];
    if (!is_known(x[i]) || !is_known(a.total)) continue;
    const std::int64_t from = number_of(x[i]), to = number_of(a.total), kept = std::min(from, to);
    a.start = (from - kept) / 2, a.offset = (to - kept) / 2, a.size = fixed<D>(kept);
  }
  return made;
}

// Compiled in geometry/pad.cpp, once for loading and once for running.
extern template result<basic_pad<dim>> pad_of(shape_view<dim>, number_list, number_list, filling);
extern template result<basic_pad<std::int64_t>> pad_of(shape_view<std::int64_t>, number_list, number_list, filling);
extern template result<basic_pad<dim>> center_crop_pad_of(shape_view<dim>, number_list, shape_view<dim>);
extern template result<basic_pad<std::int64_t>> center_crop_pad_of(shape_view<std::int64_t>, number_list,
                                                                   shape_view<std::int64_t>);

}  // namespace CAMEO_NAMESPACE::geometry
