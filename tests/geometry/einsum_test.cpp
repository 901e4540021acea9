#include <cameo/geometry/einsum.hpp>

#include "both_kinds.hpp"

namespace geometry_einsum {

using namespace both_kinds;

template <size_kind D, std::size_t N>
constexpr result<output_shape<D>> compute(std::string_view text, const sizes<D> (&shapes)[N]) {
  einsum_equation equation{text};
  basic_einsum<D> labels;
  einsum_term term;
  if (status s = equation.check_inputs(N); !s) return s;
  for (std::size_t i = 0; i < N; ++i) {
    if (status s = equation.read_input(term); !s) return s;
    if (status s = labels.add(term, shapes[i], i); !s) return s;
  }
  if (status s = equation.read_output(term); !s) return s;
  return labels.output_of(term);
}
template <std::size_t N>
constexpr result<output_shape<std::int64_t>> run(std::string_view text, const known (&shapes)[N]) {
  return compute<std::int64_t>(text, shapes);
}
template <std::size_t N>
constexpr result<output_shape<dim>> load(std::string_view text, const open (&shapes)[N]) {
  return compute<dim>(text, shapes);
}

static_assert(value_in(run("ij,jk->ik", {{2, 3}, {3, 4}})) == known{2, 4});
static_assert(value_in(run(" i j , j k ", {{2, 3}, {3, 4}})) == known{2, 4});
static_assert(value_in(run("ba", {{2, 3}})) == known{3, 2} && value_in(run("ii", {{3, 3}})) == known{});
static_assert(value_in(run("ij,ij->ij", {{1, 3}, {2, 1}})) == known{2, 3} && value_in(run(",", {{}, {}})) == known{});
static_assert(value_in(run("...ij,...jk->...ik", {{5, 1, 2, 3}, {6, 3, 4}})) == known{5, 6, 2, 4});
static_assert(value_in(run("i...,...", {{2, 3}, {4, 1}})) == known{4, 3, 2});
static_assert(value_in(run("...i->i...", {{5, 6, 2}})) == known{2, 5, 6});
static_assert(says(run("ij,jk", {{2, 3}, {4, 5}}),
                   "input 1 has 4 elements along axis 0, must have 3 or 1, as another axis of j"));
static_assert(says(run("ij", {{2}}), "input 0 has shape [2] of rank 1, must have rank 2, as its term in the equation"));
static_assert(says(run("i...j", {{2}}),
                   "input 0 has shape [2] of rank 1, must have rank 2 or more, as its term in the equation"));
static_assert(says(run("i,j", {{2}}), "attribute equation has terms for 2 inputs, must have 1"));
static_assert(says(run("i1", {{2}}),
                   "attribute equation has '1', must have letters, ellipses, commas and an arrow only"));
static_assert(says(run("......", {{2}}), "attribute equation has two ellipses in a term, must have one at most"));
static_assert(says(run("i->j", {{2}}), "attribute equation has j in its output, must have it in an input, too"));
static_assert(says(run("i->...i", {{2}}), "attribute equation has ... in its output, must have it in an input, too"));
static_assert(says(run("i->ii", {{2}}), "attribute equation has i twice in its output, must have it once"));
static_assert(says(run("abcdefghijklm->", {{2}}), "attribute equation has a term of more than 12 letters"));
static_assert(value_in(load("ij,jk->ik", {{symbol, unknown}, {n(3), n(4)}})) == open{symbol, n(4)});
static_assert(value_in(load("ij,ij->ij", {{symbol, symbol}, {symbol, n(3)}})) == open{symbol, n(3)});
static_assert(value_in(load("i,i->i", {{symbol}, {other_symbol}})) == open{unknown});
constexpr bool is_open() {
  basic_einsum<dim> labels;
  return labels.add({}, open_shape{}, std::size_t{0}) && !value_in(labels.output_of({})).is_known;
}
static_assert(is_open());

TEST_CASE("geometry: an equation gives the same shapes for both kinds of size") {
  for (const std::string_view text : {"ij,jk->ik", "i...,...i", "...,...", "ii,i->i"})
    each_shape(2, 3, [&](const known& a) {
      each_shape(2, 3, [&](const known& b) {
        const auto running = run(text, {a, b});
        const auto loading = load(text, {as_dims(a), as_dims(b)});
        if (agree(running, loading)) CHECK(*loading == as_dims(*running));
      });
    });
}

}  // namespace geometry_einsum
