#include <cameo/geometry/reduction.hpp>

#include "both_kinds.hpp"

namespace geometry_reduction {

using namespace both_kinds;

constexpr std::int64_t last_axis[] = {-1}, twice[] = {1, 1}, far[] = {2}, both[] = {1, 0};
constexpr result<reduction> run(const known& x, const number_list& axes, bool keeps, bool none = false) {
  return reduction_of<std::int64_t>(x, axes, keeps, none);
}
constexpr result<basic_reduction<dim>> load(const open& x, const number_list& axes, bool keeps, bool none = false) {
  return reduction_of<dim>(x, axes, keeps, none);
}
constexpr number_list none{};

static_assert(value_in(run({2, 3}, last_axis, true)).y == known{2, 1} &&
              value_in(run({2, 3}, last_axis, true)).axes.mask == 2);
static_assert(value_in(run({2, 3}, last_axis, false)).y == known{2} && value_in(run({2, 3}, both, false)).y == known{});
static_assert(value_in(run({2, 3}, none, true)).y == known{1, 1} && value_in(run({2, 3}, none, true)).axes.mask == 3);
static_assert(value_in(run({2, 3}, none, false)).y == known{} && value_in(run({}, none, true)).y == known{});
static_assert(value_in(run({2, 3}, none, false, true)).y == known{2, 3} &&
              value_in(run({2, 3}, none, false, true)).axes.mask == 0);
static_assert(says(run({2, 3}, twice, true), "axes lists axis 1 twice, must list each once"));
static_assert(says(run({2, 3}, far, true), "axes is 2, must be from -2 to 1 for rank 2"));
static_assert(value_in(load({symbol, n(3)}, last_axis, true)).y == open{symbol, n(1)});
static_assert(value_in(load({symbol, n(3)}, number_list::unknown(), true)).y == open{unknown, unknown});
static_assert(!value_in(load({symbol, n(3)}, number_list::unknown(), false)).y.is_known);
static_assert(!value_in(reduction_of<dim>(open_shape{}, last_axis, true, false)).y.is_known);

constexpr result<extreme> choose(const known& x, std::int64_t axis, bool keeps) {
  return extreme_of<std::int64_t>(x, axis, keeps);
}
static_assert(value_in(choose({2, 3, 4}, 1, true)).y == known{2, 1, 4} &&
              value_in(choose({2, 3, 4}, 1, false)).y == known{2, 4});
static_assert(value_in(choose({2, 3, 4}, 1, true)).outer == 2 && value_in(choose({2, 3, 4}, 1, true)).inner == 4);
static_assert(value_in(choose({}, -1, true)).y == known{} && value_in(choose({}, 0, false)).size == 1);
static_assert(says(choose({}, 1, true), "attribute axis is 1, must be from -1 to 0 for rank 1"));
static_assert(says(choose({2, 0}, 1, true),
                   "the input has shape [2,0], must have elements along axis 1 to choose from"));
static_assert(value_in(choose({0, 0}, 1, true)).y == known{0, 1});  // there is no output
static_assert(value_in(extreme_of<dim>(open{symbol, n(3)}, 1, false)).y == open{symbol});
static_assert(extreme_of<dim>(open{symbol, n(0)}, 1, false) && !extreme_of<dim>(open{n(1), n(0)}, 1, false));

constexpr std::int64_t zero = 0, two = 2, four = 4, minus_one = -1;
static_assert(value_in(top_of<std::int64_t>(known{2, 3}, -1, &two)).y == known{2, 2});
static_assert(value_in(top_of<std::int64_t>(known{2, 3}, -1, &zero)).y == known{2, 0});
static_assert(says(top_of<std::int64_t>(known{2, 3}, -1, &four), "K is 4, must be from 0 to 3, the size of axis 1"));
static_assert(says(top_of<dim>(open{symbol}, 0, &minus_one), "K is -1, must be from 0 to ?, the size of axis 0"));
static_assert(value_in(top_of<dim>(open{symbol}, 0, &four)).y == open{n(4)});
static_assert(value_in(top_of<dim>(open{n(2), n(3)}, 0, nullptr, symbol)).y == open{symbol, n(3)});

constexpr result<slices> normalize(const known& x, std::int64_t axis, normalized how) {
  return normalization_of<std::int64_t>(x, axis, how);
}
static_assert(value_in(normalize({2, 3, 4}, 1, normalized::softmax)).size == 3);
static_assert(value_in(normalize({2, 3, 4}, 1, normalized::flattened)).size == 12 &&
              value_in(normalize({2, 3, 4}, 1, normalized::flattened)).inner == 1);
static_assert(value_in(normalize({2, 3}, 2, normalized::flattened)).outer == 6 &&
              value_in(normalize({2, 3}, 2, normalized::flattened)).size == 1);
static_assert(value_in(normalize({}, -1, normalized::softmax)).size == 1 &&
              value_in(normalize({}, 0, normalized::flattened)).size == 1);
static_assert(says(normalize({}, 0, normalized::along_axis),
                   "attribute axis is 0, but the input is a scalar and has no axes"));
static_assert(says(normalize({2, 3}, 2, normalized::softmax), "attribute axis is 2, must be from -2 to 1 for rank 2"));
static_assert(says(normalize({2, 3}, 3, normalized::flattened),
                   "attribute axis is 3, must be from -2 to 2 for rank 2"));
static_assert(value_in(normalization_of<dim>(open{symbol, n(3)}, -1, normalized::softmax)).outer == symbol);

static_assert(value_in(layer_normalization_of<std::int64_t>(known{2, 3, 4}, 1, known{3, 4}, known{4})).statistics ==
              known{2, 1, 1});
static_assert(value_in(layer_normalization_of<std::int64_t>(known{2, 3, 4}, 1)).size == 12 &&
              value_in(layer_normalization_of<std::int64_t>(known{2, 3, 4}, 1)).outer == 2);
static_assert(says(layer_normalization_of<std::int64_t>(known{2, 3, 4}, 1, known{3}),
                   "scale has shape [3], must broadcast to [2,3,4]"));
static_assert(says(layer_normalization_of<dim>(open{symbol, n(4)}, -1, open{n(4)}, open{n(5)}),
                   "B has shape [5], must broadcast to [?,4]"));
static_assert(value_in(layer_normalization_of<dim>(open{symbol, n(4)}, -1)).statistics == open{symbol, n(1)});

constexpr result<slices> batch(const known& x, bool is_spatial, const known& scale) {
  const named_shape<std::int64_t> parameters[] = {{"scale", scale}, {"B", {}}};
  return batch_normalization_of<std::int64_t>(x, is_spatial, parameters);
}
static_assert(value_in(batch({2, 3, 4}, true, {3})).outer == 2 && value_in(batch({2, 3, 4}, true, {3})).inner == 4);
static_assert(value_in(batch({2, 3, 4}, false, {3, 4})).size == 12 && value_in(batch({2}, true, {1})).size == 1);
static_assert(says(batch({2, 3, 4}, true, {4}), "scale has shape [4], must be [3]"));
static_assert(says(batch({2, 3, 4}, false, {4}), "scale has shape [4], must have 12 elements, one for each channel"));
static_assert(says(batch({2}, true, {2}), "scale has shape [2], must have 1 element, one for each channel"));
constexpr open four_channels{n(4)}, some_channels{symbol};
constexpr named_shape<dim> of_four[] = {{"scale", four_channels}, {"B", some_channels}};
static_assert(batch_normalization_of<dim>(open{symbol, unknown}, true, of_four));
static_assert(says(batch_normalization_of<dim>(open{symbol, n(3)}, true, of_four), "scale has shape [4], must be [3]"));

TEST_CASE("geometry: reductions are checked alike for both kinds of size") {
  each_shape(3, 3, [](const known& x) {
    const open dims = as_dims(x);
    for (std::int64_t axis = -3; axis < 4; ++axis) {
      const std::int64_t list[] = {axis, 0};
      for (const bool keeps : {false, true}) {
        const auto sum = run(x, list, keeps);
        const auto loaded = load(dims, list, keeps);
        if (agree(sum, loaded)) CHECK(loaded->y == as_dims(sum->y));
        const auto best = choose(x, axis, keeps);
        const auto best_loaded = extreme_of<dim>(dims, axis, keeps);
        if (agree(best, best_loaded)) CHECK(best_loaded->y == as_dims(best->y));
      }
      const auto some = top_of<std::int64_t>(x, axis, &two);
      const auto some_loaded = top_of<dim>(dims, axis, &two);
      if (agree(some, some_loaded)) CHECK(some_loaded->y == as_dims(some->y));
      for (const normalized how : {normalized::along_axis, normalized::softmax, normalized::flattened}) {
        const auto rows = normalize(x, axis, how);
        const auto rows_loaded = normalization_of<dim>(dims, axis, how);
        if (agree(rows, rows_loaded)) CHECK(rows_loaded->size == n(rows->size));
      }
      const auto layer = layer_normalization_of<std::int64_t>(x, axis, known{2}, known{1, 2});
      const auto layer_loaded = layer_normalization_of<dim>(dims, axis, open{n(2)}, open{n(1), n(2)});
      if (agree(layer, layer_loaded)) CHECK(layer_loaded->statistics == as_dims(layer->statistics));
    }
  });
}

}  // namespace geometry_reduction
