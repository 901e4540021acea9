#include "both_kinds.hpp"

#include <cameo/geometry/reshape.hpp>

namespace reshapes {

using namespace both_kinds;
using list = std::initializer_list<std::int64_t>;

constexpr std::span<const std::int64_t> numbers(list all) { return {all.begin(), all.size()}; }
template <size_kind D>
constexpr bool gives(const result<sizes<D>>& found, const sizes<D>& wanted) {
  return found && *found == wanted;
}
template <size_kind D>
constexpr bool gives(const result<output_shape<D>>& found, const sizes<D>& wanted) {
  return found && found->is_known && *found == wanted;
}

template <size_kind D>
constexpr result<sizes<D>> reshaped(const sizes<D>& x, list target, bool allow_zero = false) {
  return reshape_of<D>(x, numbers(target), allow_zero);
}

// 0 copies a size, and -1 is the size that is left over.
static_assert(gives(reshaped(known{2, 3}, {0, -1, 1}), {2, 3, 1}) && gives(reshaped(known{1}, {}), {}));
static_assert(gives(reshaped(known{2, 3, 4}, {-1, 12}), {2, 12}) && gives(reshaped(known{}, {1, -1}), {1, 1}));
static_assert(gives(reshaped(known{0, 3}, {3, 0}, true), {3, 0}) &&
              gives(reshaped(known{0, 3}, {7, 0, 4}, true), {7, 0, 4}));
static_assert(gives(reshaped(open{n(0), n(3)}, {0, -1}), {n(0), n(3)}) &&
              gives(reshaped(known{0, 3}, {-1, 3}), {0, 3}));
constexpr std::string_view any_size = "shape has -1 beside a size of 0, so that -1 could be any size";
static_assert(says(reshaped(known{0, 3}, {0, -1}), any_size) && says(reshaped(known{0, 3}, {0, 5, -1}), any_size));
static_assert(says(reshaped(known{2, 3}, {-1, -1}), "shape has -1 at 0 and 1, must have it once"));
static_assert(says(reshaped(known{2, 3}, {-2, 3}), "shape has -2 at 0, must be -1 or more"));
static_assert(says(reshaped(known{2, 3}, {-1, 4}),
                   "the input has shape [2,3], must have a multiple of 4 elements for that of shape [-1,4]"));
static_assert(says(reshaped(known{2, 3}, {7}), "the input has shape [2,3], must have as many elements as shape [7]"));
static_assert(says(reshaped(known{2, 3}, {2, 3, 0}),
                   "shape has 0 at 2, the size of an axis that the input of shape [2,3] does not have"));
static_assert(says(reshaped(known{2, 3}, {0, -1}, true),
                   "shape has 0 and -1 while allowzero is 1, must not have both"));
static_assert(says(reshaped(open{n(0), n(3)}, {0, 5, -1}),
                   "the input has shape [0,3], must have a multiple of 5 elements for that of shape [0,5,-1]"));
static_assert(says(reshaped(known{1, 1}, {INT64_MAX, INT64_MAX}),
                   "the output has shape [9223372036854775807,9223372036854775807], more elements than 64 bits "
                   "count"));
static_assert(says(reshaped(known{0}, {INT64_MAX, 2, 0}, true),
                   "the output has shape [9223372036854775807,2,0], more elements than 64 bits count"));
static_assert(says(reshaped(known{0, INT64_MAX}, {-1, INT64_MAX, 2}),
                   "the output has shape [0,9223372036854775807,2], more elements than 64 bits count"));
static_assert(says(reshaped(known{1}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}),
                   "the output has rank 13, must have rank 12 or less"));

static_assert(reshaped(known{2, 3}, {7}).error().code() == status_code::invalid_argument &&
              reshaped(open{n(2), n(3)}, {7}).error().code() == status_code::invalid_graph);

// Known sizes of both shapes cancel, and a symbol that is left stays the same symbol.
static_assert(gives(reshaped(open{symbol, n(3), n(4)}, {-1, 12}), {symbol, n(12)}));
static_assert(gives(reshaped(open{symbol, n(3), n(4)}, {0, -1}), {symbol, n(12)}));
static_assert(gives(reshaped(open{symbol, n(3), n(4)}, {-1, 6}), {unknown, n(6)}));
static_assert(gives(reshaped(open{symbol, other_symbol, n(4)}, {0, -1}), {symbol, unknown}));
static_assert(gives(reshaped(open{symbol, other_symbol, n(4)}, {0, 0, 2, 2}), {symbol, other_symbol, n(2), n(2)}));
static_assert(says(reshaped(open{symbol, n(4)}, {0, 3}),
                   "the input has shape [?,4], must have as many elements as shape [0,3]"));
constexpr std::int64_t copied[] = {0, -1, 4};
static_assert(gives(reshape_of<dim>({}, copied, false), {unknown, unknown, n(4)}));

// In a target that is partly known, a symbol is a size, and 0 copies one.
constexpr bool copies_symbols() {
  const open x{symbol, n(6)}, target{other_symbol, n(0), unknown, n(3)};
  return gives(reshape_of_unknown(x, target, false), {other_symbol, n(6), unknown, n(3)}) &&
         gives(reshape_of_unknown(x, target, true), {other_symbol, n(0), unknown, n(3)}) &&
         gives(reshape_of_unknown({}, target, false), {other_symbol, unknown, unknown, n(3)});
}
static_assert(copies_symbols());

template <size_kind D>
constexpr result<sizes<D>> flattened(const sizes<D>& x, std::int64_t axis) {
  return flatten_of<D>(x, axis);
}
static_assert(gives(flattened(known{2, 3, 4}, 1), {2, 12}) && gives(flattened(known{2, 3, 4}, -1), {6, 4}));
static_assert(gives(flattened(known{2, 3}, 2), {6, 1}) && gives(flattened(known{}, 0), {1, 1}));
static_assert(gives(flattened(open{symbol, n(3), n(4)}, 1), {symbol, n(12)}) &&
              gives(flattened(open{symbol, other_symbol, n(1)}, 1), {symbol, other_symbol}) &&
              gives(flattened(open{symbol, other_symbol, n(4)}, 1), {symbol, unknown}));
static_assert(gives(flatten_of<dim>({}, 5), {unknown, unknown}));
static_assert(says(flattened(known{2, 3}, 3), "attribute axis is 3, must be from -2 to 2 for rank 2"));
static_assert(says(flattened(known{INT64_MAX, 3, 0}, 2),
                   "the input has shape [9223372036854775807,3,0], more elements than 64 bits count"));

template <size_kind D>
constexpr result<output_shape<D>> squeezed(const sizes<D>& x, list axes) {
  return squeeze_of<D>(x, numbers(axes));
}
template <size_kind D>
constexpr result<output_shape<D>> squeezed_all(const sizes<D>& x) {
  return squeeze_of<D>(x, {});
}
static_assert(gives(squeezed(known{1, 3, 1}, {0, -1}), {3}) && gives(squeezed(known{1, 3, 1}, {2, 2, -1}), {1, 3}));
static_assert(gives(squeezed(known{1, 3, 1}, {}), {1, 3, 1}) && gives(squeezed_all(known{1, 3, 1}), {3}));
static_assert(gives(squeezed(open{symbol, other_symbol, n(3)}, {1}), {symbol, n(3)}) &&
              gives(squeezed_all(open{n(1), n(3)}), {n(3)}));
constexpr bool is_open(const result<output_shape<dim>>& found) { return found && !found->is_known; }
static_assert(is_open(squeezed_all(open{n(1), symbol})) &&
              is_open(squeeze_of<dim>(open{n(1), n(2)}, number_list::unknown())));
static_assert(says(squeezed(known{1, 3}, {1}), "the input has 3 elements along axis 1, must have 1 to be squeezed"));

template <size_kind D>
constexpr result<output_shape<D>> unsqueezed(const sizes<D>& x, list axes) {
  return unsqueeze_of<D>(x, numbers(axes));
}
static_assert(gives(unsqueezed(known{2, 3}, {0, -1}), {1, 2, 3, 1}) && gives(unsqueezed(known{}, {0}), {1}));
static_assert(gives(unsqueezed(open{symbol, n(3)}, {1}), {symbol, n(1), n(3)}));
static_assert(is_open(unsqueeze_of<dim>(open{n(2)}, number_list::unknown())));
static_assert(is_open(unsqueeze_of<dim>({}, numbers({0}))) && is_open(squeeze_of<dim>({}, numbers({0}))));
static_assert(says(unsqueezed(known{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {0}),
                   "the output has rank 13, must have rank 12 or less"));

TEST_CASE("geometry: Reshape has one shape for both kinds of size, and refuses in the same words") {
  std::size_t made = 0, refused = 0;
  each_shape(2, 4, [&](const known& x) {
    for (std::int64_t p = -2; p < 5; ++p)
      for (std::int64_t q = -2; q < 5; ++q)
        for (const bool allow_zero : {false, true}) {
          const auto running = reshaped(x, {p, q}, allow_zero);
          const auto loading = reshaped(as_dims(x), {p, q}, allow_zero);
          if (loading && !running) {
            CHECK(says(running, any_size));
            continue;
          }
          if (!agree(running, loading)) {
            ++refused;
            continue;
          }
          ++made;
          CHECK(*loading == as_dims(*running));
          CHECK((*running)[0] * (*running)[1] == extents{x}.count());
        }
  });
  CHECK(made > 0);
  CHECK(refused > 0);
}

TEST_CASE("geometry: Flatten, Squeeze and Unsqueeze have one shape for both kinds of size") {
  each_shape(3, 3, [](const known& x) {
    const open as_open = as_dims(x);
    const auto all = squeezed_all(x);
    const auto all_open = squeezed_all(as_open);
    if (agree(all, all_open)) CHECK(*all_open == as_dims(*all));
    for (std::int64_t p = -4; p < 5; ++p) {
      const auto flat = flattened(x, p);
      const auto flat_open = flattened(as_open, p);
      if (agree(flat, flat_open)) CHECK(*flat_open == as_dims(*flat));
      for (std::int64_t q = -4; q < 5; ++q) {
        const auto fewer = squeezed(x, {p, q}), more = unsqueezed(x, {p, q});
        const auto fewer_open = squeezed(as_open, {p, q}), more_open = unsqueezed(as_open, {p, q});
        if (agree(fewer, fewer_open)) CHECK(*fewer_open == as_dims(*fewer));
        if (agree(more, more_open)) CHECK(*more_open == as_dims(*more));
      }
    }
  });
}

}  // namespace reshapes
