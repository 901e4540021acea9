#include "both_kinds.hpp"

#include <cameo/geometry/pad.hpp>

namespace pads_of_tensors {

using namespace both_kinds;
using list = std::initializer_list<std::int64_t>;

constexpr std::span<const std::int64_t> numbers(list all) { return {all.begin(), all.size()}; }
template <size_kind D>
constexpr result<basic_pad<D>> padded(const sizes<D>& x, list pads, filling with = filling::constant) {
  return pad_of<D>(x, numbers(pads), {}, with);
}
template <size_kind D>
constexpr result<basic_pad<D>> padded_along(const sizes<D>& x, list pads, list axes) {
  return pad_of<D>(x, numbers(pads), numbers(axes), filling::constant);
}
template <size_kind D>
constexpr bool gives(const result<basic_pad<D>>& found, const sizes<D>& wanted) {
  return found && found->out == wanted;
}
constexpr bool has_parts(const padded_axis& a, std::int64_t start, std::int64_t offset, std::int64_t size,
                         std::int64_t total) {
  return a.start == start && a.offset == offset && a.size == size && a.total == total;
}

static_assert(gives(padded(known{2, 3}, {0, 1, 2, 3}), {4, 7}) && gives(padded(known{}, {}), {}));
static_assert(gives(padded_along(known{2, 3}, {1, 2}, {-1}), {2, 6}) &&
              gives(padded_along(known{2, 3}, {9, 1, 9, 2}, {1, -1}), {2, 6}));  // the last pads of an axis count
static_assert(has_parts(value_in(padded(known{5}, {-1, 3})).axes[0], 1, 0, 4, 7) &&
              has_parts(value_in(padded(known{5}, {2, -5})).axes[0], 0, 2, 0, 2));
constexpr extents rows_of_six{6, 1};
static_assert(value_in(padded(known{5, 6}, {-1, 2, 0, -1})).source(rows_of_six) == 6 &&
              value_in(padded(known{5, 6}, {-1, 2, 0, -1})).target(rows_of_six) == 2);
static_assert(value_in(padded(known{5, 6}, {-1, 2, 0, -1})).kept() == known{4, 5});
static_assert(says(padded(known{2, 3}, {0, 1, 2}), "pads has 3 elements, must have 4, two for each axis"));
static_assert(says(padded_along(known{2, 3}, {0, 1}, {2}), "axes is 2, must be from -2 to 1 for rank 2"));
static_assert(says(padded(known{5}, {-3, -3}),
                   "pads has -3 and -3 for axis 0, must not remove more than its 5 elements"));
static_assert(says(padded(open{n(2)}, {-3, 9}),
                   "pads has -3 and 9 for axis 0, must not remove more than its 2 elements"));
static_assert(says(padded(known{2}, {INT64_MIN, INT64_MIN}),
                   "pads has -9223372036854775808 and -9223372036854775808 for axis 0, must not remove more than its 2 "
                   "elements"));
static_assert(says(padded(known{2}, {INT64_MAX, 0}),
                   "pads has 9223372036854775807 and 0 for axis 0, which gets more than 2^63 - 1 elements"));

// Elements of the input can only be repeated if there are any; an output without elements repeats none.
static_assert(says(padded(known{0, 3}, {1, 0, 0, 0}, filling::elements),
                   "axis 0 of the input has 0 elements, must have 1 or more to repeat them"));
static_assert(gives(padded(known{0, 3}, {1, 0, 0, 0}), {1, 3}));
static_assert(gives(padded(known{0, 0}, {1, 0, 0, 0}, filling::elements), {1, 0}));
static_assert(gives(padded(open{n(0), unknown}, {1, 0, 0, 0}, filling::elements), {n(1), unknown}));

// A size that is unknown stays the same symbol where nothing is added.
static_assert(gives(padded(open{symbol, other_symbol, n(3)}, {0, 1, 1, 0, 0, 1}), {symbol, unknown, n(5)}));
constexpr open batch_three{symbol, n(3)};
static_assert(gives(pad_of<dim>(batch_three, number_list::unknown(), {}, filling::constant), {unknown, unknown}));
constexpr std::int64_t one_one[] = {1, 1};
static_assert(gives(pad_of<dim>(batch_three, one_one, number_list::unknown(), filling::constant), {unknown, unknown}));
static_assert(!value_in(pad_of<dim>({}, one_one, {}, filling::constant)).out.is_known &&
              !value_in(center_crop_pad_of<dim>({}, {}, batch_three)).out.is_known);

template <size_kind D>
constexpr result<basic_pad<D>> centered(const sizes<D>& x, const sizes<D>& to) {
  return center_crop_pad_of<D>(x, {}, to);
}
template <size_kind D>
constexpr result<basic_pad<D>> centered_along(const sizes<D>& x, list axes, const sizes<D>& to) {
  return center_crop_pad_of<D>(x, numbers(axes), to);
}
static_assert(gives(centered(known{5, 6}, {3, 8}), {3, 8}) && gives(centered_along(known{5, 6}, {-1}, {3}), {5, 3}));
static_assert(has_parts(value_in(centered(known{5}, {2})).axes[0], 1, 0, 2, 2) &&
              has_parts(value_in(centered(known{2}, {5})).axes[0], 0, 1, 2, 5));
static_assert(gives(centered_along(open{symbol, n(6)}, {1}, {other_symbol}), {symbol, other_symbol}) &&
              gives(centered(open{symbol, n(6)}, {n(3), unknown}), {n(3), unknown}));
static_assert(gives(center_crop_pad_of<dim>(batch_three, {}, {}), {unknown, unknown}));
static_assert(says(centered(known{5, 6}, {3}), "shape has 1 elements, must have 2, one for each axis"));
static_assert(says(centered(known{5}, {-1}), "shape has -1 at 0, must be 0 or more"));
static_assert(says(centered_along(known{5, 6}, {1, -1}, {3, 3}),
                   "attribute axes lists axis 1 twice, must list each once"));
static_assert(says(centered_along(open{symbol, n(6)}, {2}, {n(3)}),
                   "attribute axes is 2, must be from -2 to 1 for rank 2"));

TEST_CASE("geometry: pads are the same for both kinds of size, and refused in the same words") {
  for (std::int64_t size = 0; size < 5; ++size)
    for (std::int64_t before = -5; before < 4; ++before)
      for (std::int64_t after = -5; after < 4; ++after)
        for (const filling with : {filling::constant, filling::elements}) {
          INFO("size " << size << ", pads " << before << " and " << after);
          const auto running = padded(known{size}, {before, after}, with);
          const auto loading = padded(open{n(size)}, {before, after}, with);
          if (!agree(running, loading)) continue;
          const padded_axis& a = running->axes[0];
          CHECK(loading->out == as_dims(running->out));
          CHECK(a.total == size + before + after);
          CHECK(a.start + a.size <= size);
          CHECK(a.offset + a.size <= a.total);
        }
}

TEST_CASE("geometry: a crop in the center has the same place for both kinds of size") {
  for (std::int64_t size = 0; size < 7; ++size)
    for (std::int64_t wanted = -1; wanted < 7; ++wanted) {
      const auto running = centered(known{size}, {wanted});
      if (!running) {
        CHECK(wanted == -1);
        continue;
      }
      const auto loading = centered(open{n(size)}, {n(wanted)});
      REQUIRE(loading);
      CHECK(loading->out == as_dims(running->out));
      CHECK(loading->axes[0].start == running->axes[0].start);
      CHECK(loading->axes[0].offset == running->axes[0].offset);
      CHECK(running->axes[0].total == wanted);
      CHECK(running->axes[0].size == std::min(size, wanted));
    }
}

}  // namespace pads_of_tensors
