#include "both_kinds.hpp"

#include <cameo/geometry/repeat.hpp>

namespace repeats_of_tensors {

using namespace both_kinds;
using list = std::initializer_list<std::int64_t>;

constexpr std::span<const std::int64_t> numbers(list all) { return {all.begin(), all.size()}; }
template <size_kind D>
constexpr result<basic_tile<D>> tiled(const sizes<D>& x, list repeats) {
  return tile_of<D>(x, numbers(repeats));
}
template <size_kind D>
constexpr bool gives(const result<basic_tile<D>>& found, const sizes<D>& wanted) {
  return found && found->out == wanted;
}
template <size_kind D>
constexpr bool gives(const result<output_shape<D>>& found, const sizes<D>& wanted) {
  return found && found->is_known && *found == wanted;
}
template <size_kind D>
constexpr bool gives(const result<sizes<D>>& found, const sizes<D>& wanted) {
  return found && *found == wanted;
}

static_assert(gives(tiled(known{2, 3}, {1, 4}), {2, 12}) && gives(tiled(known{2, 3}, {0, 1}), {0, 3}));
static_assert(value_in(tiled(known{2, 3}, {1, 4})).repeats[1] == 4 && gives(tiled(known{}, {}), {}));
static_assert(gives(tiled(open{symbol, symbol, unknown}, {1, 2, 0}), {symbol, unknown, n(0)}));
constexpr open batch_three{symbol, n(3)};
static_assert(gives(tile_of<dim>(batch_three, number_list::unknown()), {unknown, unknown}));
static_assert(!value_in(tile_of<dim>({}, number_list::unknown())).out.is_known &&
              !value_in(tile_of_axis<dim>({}, 2, 0)).out.is_known);
static_assert(says(tiled(known{2, 3}, {2}), "repeats has 1 elements, must have 2 for an input of shape [2,3]"));
static_assert(says(tiled(open{symbol}, {-1}), "repeats has -1 for axis 0, must have 0 or more"));
static_assert(says(tiled(known{INT64_MAX}, {2}),
                   "axis 0 has 9223372036854775807 elements, repeated 2 times: more than 64 bits count"));
constexpr known two_three{2, 3};
static_assert(gives(tile_of_axis<std::int64_t>(two_three, 4, -1), {2, 12}));
static_assert(says(tile_of_axis<std::int64_t>(two_three, 4, 2), "axis is 2, must be from -2 to 1 for rank 2"));

template <size_kind D>
constexpr result<output_shape<D>> expanded(const sizes<D>& x, const sizes<D>& to) {
  return expand_of<D>(x, to);
}
static_assert(gives(expanded(known{3, 1}, {2, 1, 6}), {2, 3, 6}) && gives(expanded(known{3, 4}, {1}), {3, 4}));
static_assert(gives(expanded(known{1}, {0}), {0}) && gives(expanded(known{}, {}), {}));
static_assert(gives(expanded(open{symbol, n(1)}, {n(1), other_symbol}), {symbol, other_symbol}));
static_assert(gives(expanded(open{symbol, unknown}, {n(5), n(6)}), {n(5), n(6)}));
static_assert(gives(expanded(open{symbol, symbol}, {other_symbol, symbol}), {unknown, symbol}));
static_assert(says(expanded(known{3, 4}, {2, 4}), "the target has shape [2,4], must broadcast with [3,4]"));
static_assert(says(expanded(open{symbol, n(4)}, {n(2), n(3)}),
                   "the target has shape [2,3], must broadcast with [?,4]"));
static_assert(says(expanded(known{3}, {-3}), "shape has -3 at 0, must be 0 or more"));
static_assert(!value_in(expand_of<dim>({}, batch_three)).is_known &&
              !value_in(expand_of<dim>(batch_three, {})).is_known);

constexpr std::int64_t shape_list[] = {2, 0}, negative_list[] = {2, -1}, long_list[13]{};
static_assert(gives(sizes_in<dim>(shape_list, "shape"), {n(2), n(0)}));
static_assert(says(sizes_in<dim>(negative_list, "input 0"), "input 0 has -1 at 1, must be 0 or more"));
static_assert(says(sizes_in<std::int64_t>(long_list, "shape"), "the output has rank 13, must have rank 12 or less"));

TEST_CASE("geometry: Tile and Expand have one shape for both kinds of size, and are refused in the same words") {
  each_shape(2, 4, [](const known& x) {
    const open as_open = as_dims(x);
    each_shape(3, 4, [&](const known& to) {
      const auto running = expanded(x, to);
      const auto loading = expanded(as_open, as_dims(to));
      if (agree(running, loading)) {
        CHECK(*loading == as_dims(*running));
        extents common;
        CHECK(have_common_shape(x, to, common));
        CHECK(extents{*running} == common);
      }
      const auto tiles = tile_of<std::int64_t>(x, extents{to}.dims());
      const auto tiles_open = tile_of<dim>(as_open, extents{to}.dims());
      if (!agree(tiles, tiles_open)) return;
      CHECK(tiles_open->out == as_dims(tiles->out));
      for (std::size_t i = 0; i < x.rank(); ++i) CHECK(tiles->out[i] == x[i] * to[i]);
    });
  });
}

}  // namespace repeats_of_tensors
