#pragma once
#include <cameo/geometry/axes.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::geometry {

/// A slice of one axis: `count` elements from `start` on, `step` apart. The step of fewer than two elements is 1. Where
/// `count` is unknown, `start` and `step` have no meaning.
template <size_kind D>
struct basic_slice_axis {
  D count{};
  std::int64_t start = 0, step = 1;
};
/// A slice whose sizes are known.
using slice_axis = basic_slice_axis<std::int64_t>;

/// A slice of each axis of a tensor. If the rank of the input is unknown, so is that of `out`.
template <size_kind D>
struct basic_slice {
  output_shape<D> out;
  basic_slice_axis<D> axes[max_rank]{};

  /// The position of the first element of the slice in a tensor with these strides.
  constexpr std::int64_t first(const extents& strides) const {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < out.rank(); ++i) {
      std::int64_t distance = 0;  // of a tensor without elements, strides may be any numbers
      static_cast<void>(checked_multiply(axes[i].start, strides[i], distance));
      static_cast<void>(checked_add(at, distance, at));
    }
    return at;
  }
  /// The strides of the slice in a tensor with these strides.
  constexpr extents steps(const extents& strides) const {
    extents made = strides;
    for (std::size_t i = 0; i < out.rank(); ++i) static_cast<void>(checked_multiply(strides[i], axes[i].step, made[i]));
    return made;
  }
};

/// A slice of an axis that has `size` elements, from `start` to before `end`. Both count from the end if negative, and
/// are clamped to the axis. `step` is not 0.
constexpr slice_axis slice_axis_of(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step);

/// Checks a Slice of x. All lists that the node has are equally long; without `axes` they
/// are for the first axes. An axis may occur once. Until version 9 there are no steps.
template <size_kind D>
constexpr result<basic_slice<D>> slice_of(shape_view<D> x, number_list starts, number_list ends, number_list axes,
                                          number_list steps);

constexpr slice_axis slice_axis_of(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const std::int64_t first = std::clamp(start < 0 ? start + size : start, std::min<std::int64_t>(0, high), high);
  const std::int64_t last = std::clamp(end < 0 ? end + size : end, low, high);
  const std::int64_t way = step > 0 ? last - first : first - last;
  if (way <= 0) return {0, 0, 1};
  const std::uint64_t stride = step > 0 ? std::uint64_t(step) : -std::uint64_t(step);  // also of -2^63
  const auto count = std::int64_t((std::uint64_t(way) - 1) / stride + 1);
  return {count, first, count > 1 ? step : 1};
}

template <size_kind D>
constexpr result<basic_slice<D>> slice_of(shape_view<D> x, number_list starts, number_list ends, number_list axes,
                                          number_list steps) {
  constexpr std::string_view names[] = {"starts", "ends", "axes", "steps"};
  const number_list* const lists[] = {&starts, &ends, &axes, &steps};
  const number_list* some = nullptr;
  for (std::size_t i = 0; i < 4; ++i) {
    if (!lists[i]->is_known) continue;
    if (some && lists[i]->numbers.size() != some->numbers.size())
      return wrong<D>(names[i], " has ", lists[i]->numbers.size(), " elements, must have as many as the other lists, ",
                      some->numbers.size());
    some = lists[i];
  }
  basic_slice<D> made;
  if (!x) return made;
  if (status s = check_rank<D>(x.rank(), "the input"); !s) return s;
  made.out = sizes<D>(x.rank(), D{});
  if (!some || (axes.is_given && !axes.is_known)) return made;
  made.out = sizes<D>{x};
  for (std::size_t i = 0; i < x.rank(); ++i) made.axes[i].count = x[i];
  const std::size_t count = some->numbers.size();
  axis_list named;
  if (axes.is_known) {
    const result<axis_list> found = axes_of<D>(axes.numbers, x.rank());
    if (!found) return found.error();
    named = *found;
  } else if (count <= x.rank()) {
    named = axis_list::all(count);
  } else {
    return wrong<D>("the input has shape ", x.sizes, ", must have an axis for each of ", count, " slices");
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t axis = named[i];
    const std::int64_t step = steps.is_known ? steps.numbers[i] : 1;
    if (step == 0) return wrong<D>("steps has 0 at ", i, ", must not be 0");
    basic_slice_axis<D>& a = made.axes[axis];
    if (!starts.is_known || !ends.is_known || (steps.is_given && !steps.is_known)) {
      a.count = D{};
    } else if (is_known(x[axis])) {
      const slice_axis cut = slice_axis_of(number_of(x[axis]), starts.numbers[i], ends.numbers[i], step);
      a = {fixed<D>(cut.count), cut.start, cut.step};
    } else if (step != 1 || starts.numbers[i] != 0 || ends.numbers[i] < INT32_MAX) {
      a.count = D{};  // else the slice is the whole axis
    }
    made.out[axis] = a.count;
  }
  return made;
}

// Compiled in geometry/slice.cpp, once for loading and once for running.
extern template result<basic_slice<dim>> slice_of(shape_view<dim>, number_list, number_list, number_list, number_list);
extern template result<basic_slice<std::int64_t>> slice_of(shape_view<std::int64_t>, number_list, number_list,
                                                           number_list, number_list);

}  // namespace CAMEO_NAMESPACE::geometry
