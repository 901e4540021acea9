#include "both_kinds.hpp"

#include <cameo/geometry/permutation.hpp>

namespace permutations {

using namespace both_kinds;
using list = std::initializer_list<std::int64_t>;

template <size_kind D>
constexpr result<basic_permutation<D>> transposed(const sizes<D>& x, list perm) {
  return transpose_of<D>(x, std::span<const std::int64_t>{perm.begin(), perm.size()});
}
template <size_kind D>
constexpr bool gives(const result<basic_permutation<D>>& found, const sizes<D>& wanted) {
  return found && found->out == wanted;
}

static_assert(gives(transposed(known{2, 3, 4}, {1, 2, 0}), {3, 4, 2}) && gives(transposed(known{2, 3}, {}), {3, 2}));
static_assert(gives(transposed(known{2, 3}, {-1, 0}), {3, 2}) && gives(transposed(known{}, {}), {}));
static_assert(gives(transposed(open{symbol, unknown, n(4)}, {2, 0, 1}), {n(4), symbol, unknown}));
static_assert(value_in(transposed(known{2, 3, 4}, {1, 2, 0})).permuted(extents{12, 4, 1}) == extents{4, 1, 12});
static_assert(!value_in(transpose_of<dim>({}, {})).out.is_known);
static_assert(says(transposed(known{2, 3}, {0}), "attribute perm has 1 axes, must have 2 for an input of shape [2,3]"));
static_assert(says(transposed(known{2, 3}, {0, 0}), "attribute perm lists axis 0 twice, must list each once"));
static_assert(says(transposed(open{symbol, n(3)}, {0, 2}), "attribute perm is 2, must be from -2 to 1 for rank 2"));
static_assert(says(transposed(open{symbol, n(3)}, {1, -1}), "attribute perm lists axis 1 twice, must list each once"));

TEST_CASE("geometry: a permutation is one for both kinds of size, and refused in the same words") {
  const known x{2, 3, 4};
  for (std::int64_t a = -4; a < 4; ++a)
    for (std::int64_t b = -4; b < 4; ++b)
      for (std::int64_t c = -4; c < 4; ++c) {
        const auto running = transposed(x, {a, b, c});
        const auto loading = transposed(as_dims(x), {a, b, c});
        if (!agree(running, loading)) continue;
        CHECK(loading->out == as_dims(running->out));
        CHECK(extents{running->out}.count() == 24);
        for (std::size_t i = 0; i < 3; ++i) {
          CHECK(running->axes[i] == loading->axes[i]);
          CHECK(x[running->axes[i]] == running->out[i]);
        }
      }
}

}  // namespace permutations
