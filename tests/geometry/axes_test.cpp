#include "both_kinds.hpp"

#include <cameo/geometry/axes.hpp>

namespace geometry_axes {

using namespace both_kinds;
using numbers = std::span<const std::int64_t>;

constexpr std::int64_t axis(std::int64_t number, std::size_t rank) {
  const result<std::size_t> found = axis_of<std::int64_t>(number, rank);
  return found ? std::int64_t(*found) : -1;
}
static_assert(axis(0, 2) == 0 && axis(-1, 2) == 1 && axis(-2, 2) == 0 && axis(2, 2) == -1 && axis(-3, 2) == -1);
static_assert(says(axis_of<dim>(3, 2), "attribute axis is 3, must be from -2 to 1 for rank 2"));
static_assert(says(axis_of<dim>(0, 0, "K"), "K is 0, but the input is a scalar and has no axes"));
static_assert(axis_of<dim>(3, 2).error().code() == status_code::invalid_graph);
static_assert(axis_of<std::int64_t>(INT64_MIN, 2).error().code() == status_code::invalid_argument);
static_assert(*cut_of<dim>(2, 2) == 2 && *cut_of<dim>(-2, 2) == 0 && *cut_of<dim>(0, 0) == 0);
static_assert(says(cut_of<dim>(3, 2), "attribute axis is 3, must be from -2 to 2 for rank 2"));

constexpr std::int64_t two[] = {-1, 0}, twice[] = {1, -1}, far[] = {0, 2};
static_assert(value_in(axes_of<dim>(two, 3)).mask == 5 && (*axes_of<dim>(two, 3))[0] == 2);
static_assert(says(axes_of<dim>(twice, 2), "axes lists axis 1 twice, must list each once"));
static_assert(value_in(axes_of<dim>(twice, 2, "axes", true)).mask == 2 &&
              value_in(axes_of<dim>(twice, 2, "axes", true)).size() == 1);
static_assert(says(axes_of<std::int64_t>(far, 2), "axes is 2, must be from -2 to 1 for rank 2"));
static_assert(says(axes_of<dim>(numbers{}, 13), "the tensor has rank 13, must have rank 12 or less"));
static_assert(axis_list::all(3).mask == 7);

constexpr known two_three_four{2, 3, 4}, empty_huge{INT64_MAX, 2, 0}, huge{INT64_MAX, 2};
static_assert(value_in(slices_of<std::int64_t>(two_three_four, -2)).outer == 2 &&
              value_in(slices_of<std::int64_t>(two_three_four, 1)).size == 3 &&
              value_in(slices_of<std::int64_t>(two_three_four, 1)).inner == 4);
static_assert(value_in(slices_of<std::int64_t>(empty_huge, 2)).outer == 0);
static_assert(says(slices_of<std::int64_t>(huge, 0),
                   "the input has shape [9223372036854775807,2], more elements than 64 bits count"));
constexpr open batch_three{symbol, n(3)};
static_assert(value_in(slices_of<dim>(batch_three, 1)).outer == symbol &&
              value_in(slices_of<dim>(batch_three, 1)).inner == n(1));
static_assert(value_in(slices_of<dim>(batch_three, 0)).inner == n(3));

static_assert(check_same<dim>(open{symbol, n(3)}, open{n(2), unknown}, "B"));
static_assert(says(check_same<dim>(open{n(3)}, open{n(2), n(3)}, "B"), "B has shape [3], must be [2,3]"));
static_assert(says(check_same<std::int64_t>(known{3}, known{2}, std::size_t{4}), "input 4 has shape [3], must be [2]"));
static_assert(check_same<std::int64_t>(known{3}, shape{}, "B"));

static_assert(!number_list{}.is_given && number_list::unknown().is_given && number_list{two}.is_known);
static_assert(!output_shape<dim>{}.is_known && output_shape<dim>{open{symbol}}[0] == symbol);
static_assert(!output_shape<dim>{open_shape{}}.is_known &&
              output_shape<std::int64_t>{shape{two_three_four}}.rank() == 3);

TEST_CASE("geometry: slices along an axis are the same for both kinds of size") {
  each_shape(3, 3, [](const known& x) {
    for (std::int64_t axis = -4; axis < 4; ++axis) {
      const auto running = slices_of<std::int64_t>(x, axis);
      const auto loading = slices_of<dim>(as_dims(x), axis);
      if (!agree(running, loading)) continue;
      CHECK(loading->axis == running->axis);
      CHECK(loading->outer == n(running->outer));
      CHECK(loading->size == n(running->size));
      CHECK(loading->inner == n(running->inner));
      CHECK(running->size == x[running->axis]);
    }
  });
}

}  // namespace geometry_axes
