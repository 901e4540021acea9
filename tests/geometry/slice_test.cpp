#include "both_kinds.hpp"

#include <cameo/geometry/slice.hpp>

namespace slices_of_tensors {

using namespace both_kinds;
using list = std::initializer_list<std::int64_t>;

constexpr std::span<const std::int64_t> numbers(list all) { return {all.begin(), all.size()}; }
template <size_kind D>
constexpr result<basic_slice<D>> sliced(const sizes<D>& x, list starts, list ends) {
  return slice_of<D>(x, numbers(starts), numbers(ends), {}, {});
}
template <size_kind D>
constexpr result<basic_slice<D>> sliced(const sizes<D>& x, list starts, list ends, list axes, list steps) {
  return slice_of<D>(x, numbers(starts), numbers(ends), numbers(axes), numbers(steps));
}
template <size_kind D>
constexpr bool gives(const result<basic_slice<D>>& found, const sizes<D>& wanted) {
  return found && found->out == wanted;
}
constexpr bool has_parts(const slice_axis& a, std::int64_t count, std::int64_t start, std::int64_t step) {
  return a.count == count && a.start == start && a.step == step;
}

// Starts and ends count from the end if negative, and are clamped.
static_assert(has_parts(slice_axis_of(5, 1, 4, 1), 3, 1, 1) && has_parts(slice_axis_of(5, -2, INT64_MAX, 1), 2, 3, 1));
static_assert(has_parts(slice_axis_of(5, -9, 9, 2), 3, 0, 2) && has_parts(slice_axis_of(5, 4, 2, 1), 0, 0, 1));
static_assert(has_parts(slice_axis_of(5, 9, -9, -1), 5, 4, -1) &&
              has_parts(slice_axis_of(5, -1, INT64_MIN, -2), 3, 4, -2));
static_assert(has_parts(slice_axis_of(5, 4, -9, INT64_MIN), 1, 4, 1) &&
              has_parts(slice_axis_of(5, 0, 9, INT64_MAX), 1, 0, 1));
static_assert(has_parts(slice_axis_of(0, 0, 1, 1), 0, 0, 1) && has_parts(slice_axis_of(0, -1, -9, -1), 0, 0, 1));

static_assert(gives(sliced(known{5, 6}, {1, 2}, {4, -1}), {3, 3}) && gives(sliced(known{5, 6}, {1}, {4}), {3, 6}));
static_assert(gives(sliced(known{5, 6}, {-1}, {INT64_MIN}, {-1}, {-2}), {5, 3}) && gives(sliced(known{}, {}, {}), {}));
constexpr extents rows_of_six{6, 1};
static_assert(value_in(sliced(known{5, 6}, {1, 5}, {4, -9}, {0, 1}, {2, -3})).first(rows_of_six) == 11);
static_assert(value_in(sliced(known{5, 6}, {1, 5}, {4, -9}, {0, 1}, {2, -3})).steps(rows_of_six) == extents{12, -3});
static_assert(says(sliced(known{5, 6}, {1}, {2, 3}), "ends has 2 elements, must have as many as the other lists, 1"));
static_assert(says(sliced(known{5}, {1, 1}, {2, 2}),
                   "the input has shape [5], must have an axis for each of 2 slices"));
static_assert(says(sliced(known{5, 6}, {1, 1}, {2, 2}, {0, -2}, {1, 1}),
                   "axes lists axis 0 twice, must list each once"));
static_assert(says(sliced(known{5, 6}, {1}, {2}, {2}, {1}), "axes is 2, must be from -2 to 1 for rank 2"));
static_assert(says(sliced(known{5}, {1}, {2}, {0}, {0}), "steps has 0 at 0, must not be 0"));

// A slice of a size that is unknown is unknown, unless it is the whole axis.
static_assert(gives(sliced(open{symbol, n(6)}, {0, 1}, {INT32_MAX, 3}), {symbol, n(2)}));
static_assert(gives(sliced(open{symbol, n(6)}, {1}, {INT32_MAX}), {unknown, n(6)}) &&
              gives(sliced(open{symbol, n(6)}, {0}, {100}), {unknown, n(6)}));
static_assert(says(sliced(open{symbol, n(6)}, {0}, {1}, {0}, {0}), "steps has 0 at 0, must not be 0"));
constexpr open batch_six{symbol, n(6)};
constexpr std::int64_t one_axis[] = {1};
static_assert(gives(slice_of<dim>(batch_six, number_list::unknown(), number_list::unknown(), one_axis, {}),
                    {symbol, unknown}));
static_assert(gives(slice_of<dim>(batch_six, one_axis, number_list::unknown(), {}, {}), {unknown, n(6)}));
static_assert(gives(slice_of<dim>(batch_six, one_axis, one_axis, number_list::unknown(), {}), {unknown, unknown}));
static_assert(!value_in(slice_of<dim>({}, one_axis, one_axis, {}, {})).out.is_known);
constexpr std::int64_t two_ends[] = {1, 2};
static_assert(says(slice_of<dim>({}, one_axis, two_ends, {}, {}),
                   "ends has 2 elements, must have as many as the other lists, 1"));

TEST_CASE("geometry: the slice of an axis has the elements that counting gives") {
  for (std::int64_t size = 0; size < 5; ++size)
    for (std::int64_t start = -6; start < 7; ++start)
      for (std::int64_t end = -6; end < 7; ++end)
        for (const std::int64_t step : {-3, -2, -1, 1, 2, 3}) {
          INFO("size " << size << ", from " << start << " to " << end << ", step " << step);
          const slice_axis a = slice_axis_of(size, start, end, step);
          // Python's slice: the first element that is inside, then steps until before the end.
          const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
          const std::int64_t first = std::clamp(start < 0 ? start + size : start, low, high);
          const std::int64_t last = std::clamp(end < 0 ? end + size : end, low, high);
          std::int64_t count = 0;
          for (std::int64_t i = std::max<std::int64_t>(first, step > 0 ? first : std::min<std::int64_t>(0, high));
               step > 0 ? i < last : i > last; i += step) {
            CHECK(i == a.start + count * a.step);
            ++count;
          }
          CHECK(count == a.count);
          const auto running = sliced(known{size}, {start}, {end}, {0}, {step});
          const auto loading = sliced(open{n(size)}, {start}, {end}, {0}, {step});
          REQUIRE(agree(running, loading));
          CHECK(loading->out == as_dims(running->out));
          CHECK(loading->axes[0].start == running->axes[0].start);
          CHECK(loading->axes[0].step == running->axes[0].step);
        }
}

}  // namespace slices_of_tensors
