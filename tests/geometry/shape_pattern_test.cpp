#include <doctest/doctest.h>
#include <cameo/geometry/shape_pattern.hpp>

namespace shape_patterns {

using namespace cameo;
using namespace cameo::geometry;

using numbers = std::span<const std::int64_t>;

/// Checks shapes of inputs named a, b, c; null sizes stand for an absent input.
template <size_kind D, std::size_t N>
constexpr status check(std::string_view patterns, const shape_view<D> (&shapes)[N],
                       std::span<const named_size> known = {}) {
  constexpr std::string_view names[] = {"a", "b", "c"};
  named_shape<D> inputs[N]{};
  for (std::size_t i = 0; i < N; ++i) inputs[i] = {names[i], shapes[i]};
  return check_shapes<D>(patterns, inputs, known);
}
template <std::size_t N>
constexpr status run(std::string_view patterns, const shape_view<std::int64_t> (&shapes)[N],
                     std::span<const named_size> known = {}) {
  return check<std::int64_t>(patterns, shapes, known);
}
template <std::size_t N>
constexpr status load(std::string_view patterns, const shape_view<dim> (&shapes)[N]) {
  return check<dim>(patterns, shapes);
}
constexpr bool says(const status& s, std::string_view words) {
  return !s && (!status::has_words || s.words() == words);
}

// The compiler evaluates the patterns.
constexpr std::int64_t s2[] = {2}, s3[] = {3}, s23[] = {2, 3}, s234[] = {2, 3, 4}, s12[] = {12}, s14[] = {1, 4},
                       s24[] = {2, 4}, s111[] = {1, 1, 1}, s0[] = {0, 3}, s16[] = {16};
constexpr shape_view<std::int64_t> scalar{std::span<const std::int64_t>{}}, none{};

static_assert(run("[n,m] [m] [n]", {numbers{s23}, numbers{s3}, numbers{s2}}));
static_assert(run("[n,m] [m]", {numbers{s23}, none, numbers{s16}}));
static_assert(says(run("[n,m] [m]", {numbers{s23}, numbers{s2}}), "b has shape [2], must be [3]"));
static_assert(says(run("[n,m]", {numbers{s2}}), "a has shape [2], must be [n,m]"));
static_assert(says(run("[n,m] [m,k]", {numbers{s23}, numbers{s2}}), "b has shape [2], must be [3,k]"));
static_assert(run("* 1 1", {numbers{s234}, scalar, numbers{s111}}));
static_assert(says(run("* 1", {numbers{s234}, numbers{s2}}), "b has shape [2], must be one element"));
static_assert(run("[n,...] [...,4] [n]", {numbers{s234}, numbers{s14}, numbers{s2}}));
static_assert(run("[n,...]", {numbers{s2}}) && run("[n,...,k]", {numbers{s23}}));
static_assert(says(run("[n,_,...]", {numbers{s2}}), "a has shape [2], must be [n,any,...]"));
static_assert(says(run("[...,width]", {scalar}), "a has shape [], must be [...,width]"));
static_assert(run("[n,m]|[m] [m]", {numbers{s3}, numbers{s3}}) && run("[n,m]|[m] [m]", {numbers{s23}, numbers{s3}}));
static_assert(says(run("[n,m]|[m] [m]|[n,m]", {numbers{s3}, numbers{s234}}),
                   "b has shape [2,3,4], must be [3] or [n,3]"));
static_assert(run("[n,m] [n?,k]", {numbers{s23}, numbers{s14}}) && run("[n,m] [n?,k]", {numbers{s23}, numbers{s24}}));
static_assert(says(run("[m,n] [n?,k]", {numbers{s23}, numbers{s24}}), "b has shape [2,4], must be [1 or 3,k]"));

// Products and sums find a size that is not known yet, in any order of the inputs.
constexpr named_size four_heads[] = {{"heads", 4}};
static_assert(run("[heads*size] [size]", {numbers{s12}, numbers{s3}}, four_heads));
static_assert(says(run("[heads*size] [size]", {numbers{s12}, numbers{s2}}, four_heads),
                   "b has shape [2], must be [3]"));
static_assert(says(run("[heads*size]", {numbers{s3}}, four_heads), "a has shape [3], must be [heads*size]"));
static_assert(run("[k*n] [n,k]|[n]", {numbers{s16}, numbers{s2}}));
static_assert(says(run("[a*b] [a] [b]", {numbers{s12}, numbers{s3}, numbers{s3}}), "a has shape [12], must be [9]"));
static_assert(run("[a*b] [a,_] [b]", {numbers{s12}, numbers{s23}, none}));
static_assert(says(run("[past+n] [n] [past]", {numbers{s3}, numbers{s2}, numbers{s2}}),
                   "a has shape [3], must be [4]"));
static_assert(says(run("[n] [n+2]", {numbers{s3}, numbers{s2}}), "b has shape [2], must be [5]"));
static_assert(says(run("[n,m] [2*n]", {numbers{s0}, numbers{s2}}), "b has shape [2], must be [0]"));

// Sizes that are unknown are not compared, and an open choice gives no name a size.
constexpr dim open_two[] = {dim{}, dim::fixed(3)}, three[] = {dim::fixed(3)}, two[] = {dim::fixed(2)},
              unknown[] = {dim{}};
constexpr shape_view<dim> of_open_two{std::span<const dim>{open_two}}, of_three{std::span<const dim>{three}},
    of_two{std::span<const dim>{two}}, of_unknown{std::span<const dim>{unknown}};
static_assert(load("[n,m] [n] [m]", {of_open_two, of_two, of_three}) && load("1 1", {of_unknown, shape_view<dim>{}}));
static_assert(says(load("[n,m] [n] [m]", {of_open_two, of_two, of_two}), "c has shape [2], must be [3]"));
static_assert(says(load("[n,m] [m] ", {of_open_two, of_open_two}), "b has shape [?,3], must be [3]"));
static_assert(load("[n]|[m] [n]", {of_three, of_two}));  // it is open which of both it is

// Attributes that are lists.
constexpr named_size six_weights[] = {{"weights", 6}}, no_weights[] = {{"weights", 0}};
constexpr status with_lists(std::string_view patterns, numbers shape, std::span<const named_size> lists) {
  const named_shape<std::int64_t> inputs[] = {{"a", shape}};
  return check_shapes<std::int64_t>(patterns, inputs, four_heads, lists);
}
static_assert(with_lists("[n,m] weights=n*m", s23, six_weights) && with_lists("* * * weights=6", s2, six_weights));
static_assert(with_lists("[n,m] weights=n*m|0", s23, no_weights) &&
              with_lists("[n] bias=n weights=3*n", s2, six_weights));
static_assert(says(with_lists("[n,m] weights=heads*m", s23, six_weights),
                   "attribute weights has 6 elements, must have 12"));
static_assert(says(with_lists("* weights=2*heads|0|heads", s2, six_weights),
                   "attribute weights has 6 elements, must have 8 or 0 or 4"));
static_assert(says(with_lists("weights=heads*m", s23, six_weights),
                   "attribute weights has 6 elements, must have heads*m"));

TEST_CASE("geometry: the shapes of a run are checked as those of loading, with the same words") {
  constexpr std::string_view patterns = "[n,m] [m]|[n,m] [2*m]";
  std::size_t refused = 0;
  for (std::int64_t a = 0; a < 4; ++a)
    for (std::int64_t b = 0; b < 4; ++b)
      for (std::int64_t c = 0; c < 9; ++c) {
        const std::int64_t x[] = {a, b}, y[] = {b}, z[] = {c};
        const dim dx[] = {dim::fixed(a), dim::fixed(b)}, dy[] = {dim::fixed(b)}, dz[] = {dim::fixed(c)};
        const status running = run(patterns, {numbers{x}, numbers{y}, numbers{z}});
        const status loading =
            load(patterns, {std::span<const dim>{dx}, std::span<const dim>{dy}, std::span<const dim>{dz}});
        CHECK(bool(running) == bool(loading));
        CHECK(running.words() == loading.words());
        CHECK(bool(running) == (c == 2 * b));
        refused += !running;
      }
  CHECK(refused > 0);
}

}  // namespace shape_patterns
