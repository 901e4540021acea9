#include <cameo/geometry/gather.hpp>

#include "both_kinds.hpp"

namespace geometry_gather {

using namespace both_kinds;

constexpr std::int64_t some[] = {0, -3}, outside[] = {0, 3};
static_assert(check_indices<std::int64_t>(some, 3, 1) && check_indices<dim>(outside, unknown, 1));
static_assert(says(check_indices<dim>(outside, n(3), 1), "indices has 3, must be from -3 to 2 for axis 1"));
static_assert(says(check_indices<std::int64_t>(some, 0, 1), "indices has 0, must have none: axis 1 has no elements"));

constexpr result<gather> pick(const known& data, const known& indices, std::int64_t axis) {
  return gather_of<std::int64_t>(data, indices, axis);
}
static_assert(value_in(pick({2, 3, 4}, {5, 6}, 1)).y == known{2, 5, 6, 4} &&
              value_in(pick({2, 3}, {}, -1)).y == known{2});
static_assert(value_in(pick({2, 3, 4}, {5}, 1)).outer == 2 && value_in(pick({2, 3, 4}, {5}, 1)).inner == 4);
static_assert(says(pick({2, 3}, {}, 2), "attribute axis is 2, must be from -2 to 1 for rank 2"));
static_assert(says(pick({}, {}, 0), "attribute axis is 0, but the input is a scalar and has no axes"));
static_assert(says(pick({1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1}, 0),
                   "the output has rank 13, must have rank 12 or less"));
static_assert(value_in(gather_of<dim>(open{symbol, n(3)}, open{unknown}, 1)).y == open{symbol, unknown});
static_assert(!value_in(gather_of<dim>(open{symbol, n(3)}, open_shape{}, 1)).y.is_known &&
              !gather_of<dim>(open{symbol, n(3)}, open_shape{}, 2));

constexpr result<element_places> places(const known& data, const known& indices, std::int64_t axis,
                                        shape updates = {}) {
  return element_places_of<std::int64_t>(data, indices, axis, updates);
}
static_assert(value_in(places({2, 3}, {1, 5}, 1)).size == 3 && value_in(places({2, 3}, {2, 5}, -1)).axis == 1);
static_assert(says(places({2, 3}, {3, 3}, 1), "indices has 3 elements along axis 0, must have 2 or less, as the data"));
static_assert(says(places({2, 3}, {3}, 1), "indices has shape [3] of rank 1, must have rank 2, as the data"));
constexpr known one_four{1, 4};
static_assert(says(places({2, 3}, {1, 5}, 1, one_four), "updates has shape [1,4], must be [1,5]") &&
              places({2, 3}, {1, 4}, 1, one_four));
static_assert(element_places_of<dim>(open{symbol, n(3)}, open{n(7), unknown}, 1));
static_assert(!element_places_of<dim>(open{symbol, n(3)}, open_shape{}, 0, open{n(7), n(4)}));

constexpr result<blocks> find(const known& data, const known& indices, std::int64_t batch, shape updates = {}) {
  return blocks_of<std::int64_t>(data, indices, batch, updates);
}
constexpr blocks of_batch = value_in(find({2, 3, 4}, {2, 5, 1}, 1));
static_assert(of_batch.gathered == known{2, 5, 4} && of_batch.count == 10 && of_batch.per_batch == 5 &&
              of_batch.block == 4 && of_batch.first == 1 && of_batch.past == 2);
static_assert(value_in(find({2, 3, 4}, {5, 3}, 0)).gathered == known{5} &&
              value_in(find({2, 3}, {5, 0}, 0)).gathered == known{5, 2, 3});
static_assert(says(find({2, 3}, {5, 3}, 0),
                   "indices has 3 elements along its last axis, must have 2 or less, one for "
                   "each axis of data of shape [2,3]"));
static_assert(says(find({2, 3}, {5, 1}, 1),
                   "indices has 5 elements along axis 0, must have 2, as the data: the axis is "
                   "one of batch_dims"));
static_assert(says(find({2, 3}, {5, 1}, 2),
                   "attribute batch_dims is 2, must be from 0 to 1 for data of shape [2,3] and "
                   "indices of shape [5,1]"));
static_assert(says(find({}, {1}, 0), "data has shape [], must have rank 1 or more"));
static_assert(find({2, 4}, {1, 1}, 0, one_four));
static_assert(says(find({2, 3}, {1, 1}, 0, one_four), "updates has shape [1,4], must be [1,3]"));
static_assert(value_in(blocks_of<dim>(open{symbol, n(3)}, open{unknown, n(1)}, 0)).gathered == open{unknown, n(3)});
static_assert(!value_in(blocks_of<dim>(open{symbol, n(3)}, open{n(2), unknown}, 0)).gathered.is_known);
static_assert(!value_in(blocks_of<dim>(open_shape{}, open{n(2), unknown}, 0)).is_known);

constexpr std::int64_t five = 5, zero = 0, last = -1, first = 0, far = 3;
static_assert(value_in(one_hot_of<std::int64_t>(known{2, 3}, 1, &five)).y == known{2, 5, 3} &&
              value_in(one_hot_of<std::int64_t>(known{2, 3}, 1, &five)).inner == 3);
static_assert(value_in(one_hot_of<std::int64_t>(known{}, -1, &five)).y == known{5});
static_assert(says(one_hot_of<dim>(open_shape{}, 0, &zero), "depth is 0, must be 1 or more"));
static_assert(says(one_hot_of<dim>(open{n(2)}, 2, &five), "attribute axis is 2, must be from -2 to 1 for rank 2"));
static_assert(value_in(one_hot_of<dim>(open{n(2)}, -1, nullptr, symbol)).y == open{n(2), symbol});

static_assert(value_in(selection_of<std::int64_t>(known{2, 3, 4}, &last)).shape_of(7) == known{2, 3, 7} &&
              value_in(selection_of<std::int64_t>(known{2, 3, 4}, &last)).outer == 6);
static_assert(value_in(selection_of<std::int64_t>(known{2, 3}, nullptr)).shape_of(4) == known{4} &&
              value_in(selection_of<std::int64_t>(known{2, 3}, nullptr)).size == 6);
static_assert(says(selection_of<std::int64_t>(known{2, 3}, &far),
                   "attribute axis is 3, must be from -2 to 1 for rank 2"));
static_assert(value_in(selection_of<dim>(open_shape{}, nullptr)).shape_of(symbol) == open{symbol} &&
              !value_in(selection_of<dim>(open_shape{}, &first)).shape_of(symbol).is_known);
static_assert(value_in(selection_of<dim>(open{symbol, n(1)}, nullptr)).size == symbol);
static_assert(!selection_of<dim>(open{n(INT64_MAX), n(2)}, nullptr));

static_assert(value_in(tensor_scatter_of<std::int64_t>(known{2, 3, 4}, known{2, 1, 4}, -2)).inner == 4);
static_assert(says(tensor_scatter_of<std::int64_t>(known{2, 3, 4}, known{2, 1, 4}, 0),
                   "attribute axis is 0, must not be axis 0, that of the batch"));
static_assert(says(tensor_scatter_of<std::int64_t>(known{2, 3, 4}, known{2, 4, 4}, 1),
                   "update has 4 elements along axis 1, must have 3 or less, as past_cache"));
static_assert(says(tensor_scatter_of<std::int64_t>(known{2, 3, 4}, known{1, 3, 4}, 1),
                   "update has 1 elements along axis 0, must have 2, as past_cache"));
static_assert(says(tensor_scatter_of<dim>(open{symbol, n(3)}, open{n(3)}, 1),
                   "update has shape [3] of rank 1, must have rank 2, as past_cache"));
static_assert(tensor_scatter_of<dim>(open{symbol, n(3)}, open{n(3), unknown}, 1));

TEST_CASE("geometry: gathers and scatters are checked alike for both kinds of size") {
  each_shape(2, 3, [](const known& data) {
    each_shape(2, 3, [&](const known& indices) {
      const open dims = as_dims(data), of_indices = as_dims(indices);
      for (std::int64_t axis = -2; axis < 3; ++axis) {
        const auto gathered = pick(data, indices, axis);
        const auto gathered_dims = gather_of<dim>(dims, of_indices, axis);
        if (agree(gathered, gathered_dims)) CHECK(gathered_dims->y == as_dims(gathered->y));
        const auto elements = places(data, indices, axis, indices);
        const auto elements_dims = element_places_of<dim>(dims, of_indices, axis, of_indices);
        if (agree(elements, elements_dims)) CHECK(elements_dims->size == n(elements->size));
        const auto tuples = find(data, indices, axis);
        const auto tuples_dims = blocks_of<dim>(dims, of_indices, axis);
        if (agree(tuples, tuples_dims)) CHECK(tuples_dims->gathered == as_dims(tuples->gathered));
        const auto cached = tensor_scatter_of<std::int64_t>(data, indices, axis);
        static_cast<void>(agree(cached, tensor_scatter_of<dim>(dims, of_indices, axis)));
      }
    });
    for (std::int64_t axis = -3; axis < 4; ++axis) {
      const auto hot = one_hot_of<std::int64_t>(data, axis, &five);
      const auto hot_dims = one_hot_of<dim>(as_dims(data), axis, &five);
      if (agree(hot, hot_dims)) CHECK(hot_dims->y == as_dims(hot->y));
      const auto kept = selection_of<std::int64_t>(data, &axis);
      const auto kept_dims = selection_of<dim>(as_dims(data), &axis);
      if (agree(kept, kept_dims)) CHECK(kept_dims->shape_of(n(2)) == as_dims(kept->shape_of(2)));
    }
  });
}

}  // namespace geometry_gather
