#include <cameo/geometry/broadcast.hpp>

#include "both_kinds.hpp"

namespace geometry_broadcast {

using namespace both_kinds;

constexpr result<output_shape<std::int64_t>> run(const known& a, const known& b) {
  return broadcast_of<std::int64_t>(a, b, "B");
}
constexpr result<output_shape<dim>> load(const open& a, const open& b) { return broadcast_of<dim>(a, b, "B"); }

static_assert(value_in(run({2, 1}, {3})) == known{2, 3} && value_in(run({}, {3})) == known{3});
static_assert(value_in(run({0}, {1})) == known{0} && value_in(run({2, 1, 4}, {3, 1})) == known{2, 3, 4});
static_assert(says(run({2, 3}, {2}), "B has shape [2], must broadcast with [2,3]"));
static_assert(says(run({0}, {3}), "B has shape [3], must broadcast with [0]"));
static_assert(value_in(load({symbol, n(1)}, {n(1), symbol})) == open{symbol, symbol});
static_assert(value_in(load({symbol}, {symbol})) == open{symbol} &&
              value_in(load({symbol}, {other_symbol})) == open{unknown});
static_assert(value_in(load({symbol}, {n(3)})) == open{n(3)} && value_in(load({n(3)}, {unknown})) == open{n(3)});
static_assert(says(load({symbol, n(2)}, {n(3)}), "B has shape [3], must broadcast with [?,2]"));

constexpr shape_view<dim> of_any_rank[] = {open_shape{}, open_shape{}};
static_assert(!value_in(broadcast_of<dim>(std::span<const shape_view<dim>>{of_any_rank})).is_known);
constexpr known one_three{1, 3}, two_one{2, 1}, four{4};
constexpr shape_view<std::int64_t> good[] = {one_three, two_one}, bad[] = {one_three, two_one, four};
static_assert(value_in(broadcast_of<std::int64_t>(std::span<const shape>{good})) == known{2, 3});
static_assert(says(broadcast_of<std::int64_t>(std::span<const shape>{bad}),
                   "input 2 has shape [4], must broadcast with [2,3]"));
static_assert(value_in(broadcast_of<std::int64_t>(std::span<const shape>{})) == known{});

static_assert(check_broadcast<std::int64_t>(known{1, 3}, known{2, 3}, "slope"));
static_assert(says(check_broadcast<std::int64_t>(known{2, 3}, known{1, 3}, "slope"),
                   "slope has shape [2,3], must broadcast to [1,3]"));
static_assert(says(check_broadcast<std::int64_t>(known{1, 3}, known{3}, "slope"),
                   "slope has shape [1,3], must broadcast to [3]"));
static_assert(check_broadcast<dim>(open{unknown}, open{n(2), n(3)}, "slope"));
static_assert(check_broadcast<dim>(open_shape{}, open{n(3)}, "slope"));

static_assert(repeating_strides({3, 1, 4}, {2, 3, 5, 4}) == extents{0, 4, 0, 1});
static_assert(repeating_strides({}, {2, 3}) == extents{0, 0});

constexpr result<known> align(const known& a, const known& b, alignment how, std::int64_t axis = -1) {
  return aligned<std::int64_t>(a, b, how, axis, "B");
}
static_assert(value_in(align({2, 3, 4}, {2}, alignment::by_axis, 0)) == known{2, 1, 1});
static_assert(value_in(align({2, 3, 4}, {3, 4}, alignment::by_axis)) == known{3, 4});
static_assert(value_in(align({2, 3, 4}, {3, 1}, alignment::by_axis, 1)) == known{3, 1});
static_assert(value_in(align({2}, {1, 1, 1}, alignment::by_axis)) == known{});
static_assert(says(align({2, 3, 4}, {2, 3}, alignment::by_axis, 2),
                   "B has shape [2,3], must be one element or axes of [2,3,4] from the attribute axis on"));
static_assert(says(align({2}, {2, 2}, alignment::by_axis), "B has shape [2,2], must be one element or axes of [2]"));
static_assert(says(align({2, 3, 4}, {2}, alignment::by_axis, 1),
                   "B has shape [2], must broadcast to axes of [2,3,4] from axis 1 on"));
static_assert(says(align({2}, {3}, alignment::none), "B has shape [3], must be [2]"));
static_assert(value_in(align({2, 3, 4}, {3}, alignment::to_channel)) == known{3, 1});
static_assert(value_in(align({2, 3, 4}, {4}, alignment::to_channel)) == known{4});
static_assert(says(align({2, 3, 4}, {5}, alignment::to_channel), "B has shape [5], must broadcast to [2,3,4]"));
static_assert(aligned<dim>(open{n(2)}, open{unknown, n(1)}, alignment::by_axis, -1, "B"));  // may be one element
static_assert(!aligned<dim>(open{n(2)}, open{n(3)}, alignment::by_axis, -1, "B"));

TEST_CASE("geometry: shapes broadcast alike for both kinds of size, and as ONNX defines it") {
  each_shape(2, 4, [](const known& a) {
    each_shape(3, 4, [&](const known& b) {
      const auto running = run(a, b);
      const auto loading = load(as_dims(a), as_dims(b));
      extents expected;
      CHECK(bool(running) == have_common_shape(extents(a), extents(b), expected));
      if (agree(running, loading)) {
        CHECK(*loading == as_dims(*running));
        CHECK(extents(*running) == expected);
      }
      const status one_way = check_broadcast<std::int64_t>(b, a, "B");
      CHECK(bool(one_way) == (running && *running == a));
      CHECK(one_way.words() == check_broadcast<dim>(as_dims(b), as_dims(a), "B").words());
      for (const alignment how : {alignment::none, alignment::by_axis, alignment::to_channel})
        for (std::int64_t axis = -1; axis < 3; ++axis) {
          const auto fitted = aligned<std::int64_t>(a, b, how, axis, "B");
          if (agree(fitted, aligned<dim>(as_dims(a), as_dims(b), how, axis, "B")))
            CHECK(check_broadcast<std::int64_t>(*fitted, a, "B"));
        }
    });
  });
}

}  // namespace geometry_broadcast
