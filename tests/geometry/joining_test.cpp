#include <cameo/geometry/joining.hpp>

#include "both_kinds.hpp"

namespace joined_shapes {

using namespace both_kinds;

template <size_kind D, std::size_t N>
constexpr result<basic_join<D>> join(std::int64_t axis, bool is_new, const sizes<D> (&parts)[N]) {
  basic_join<D> made{axis, is_new};
  for (std::size_t i = 0; i < N; ++i)
    if (status s = made.add(parts[i], i); !s) return s;
  return made;
}
template <std::size_t N>
constexpr result<joined> run(std::int64_t axis, bool is_new, const known (&parts)[N]) {
  return join<std::int64_t>(axis, is_new, parts);
}
template <std::size_t N>
constexpr result<basic_join<dim>> load(std::int64_t axis, bool is_new, const open (&parts)[N]) {
  return join<dim>(axis, is_new, parts);
}

static_assert(value_in(run(-1, false, {{2, 3}, {2, 4}, {2, 0}})).y() == known{2, 7});
static_assert(value_in(run(1, false, {{2, 3, 5}, {2, 4, 5}})).slices().inner == 5 &&
              value_in(run(1, false, {{2, 3, 5}, {2, 4, 5}})).slices().size == 7);
static_assert(value_in(run(-1, true, {{2, 3}, {2, 3}})).y() == known{2, 3, 2} &&
              value_in(run(0, true, {{}, {}})).y() == known{2});
static_assert(says(run(0, false, {{2, 3}, {2, 4}}),
                   "input 1 has 4 elements along axis 1, must have 3, as those before"));
static_assert(says(run(1, true, {{2, 3}, {2, 4}}),
                   "input 1 has 4 elements along axis 1, must have 3, as those before"));
static_assert(says(run(0, false, {{2, 3}, {2}}), "input 1 has shape [2] of rank 1, must have rank 2, as those before"));
static_assert(says(run(2, false, {{2, 3}}), "attribute axis is 2, must be from -2 to 1 for rank 2"));
static_assert(says(run(0, false, {{INT64_MAX}, {1}}),
                   "input 1 has 1 elements along axis 0, more than 64 bits count together with those before"));
static_assert(value_in(load(0, false, {{symbol, unknown}, {n(2), n(3)}})).y() == open{unknown, n(3)});
static_assert(value_in(load(1, false, {{symbol, n(1)}, {symbol, n(2)}})).y() == open{symbol, n(3)});
constexpr open_shape some_rank{};
constexpr open with_unknown() {
  basic_join<dim> made{0, false};
  const bool fits = made.add(some_rank, std::size_t{0}) && made.add(open{n(2), n(3)}, std::size_t{1}) &&
                    made.add(open{n(2), symbol}, std::size_t{2});
  return fits ? open{made.y()} : open{};
}
static_assert(with_unknown() == open{unknown, n(3)});
constexpr open of_sequence() {  // of unknown length
  basic_join<dim> made{-1, true};
  return made.add(open{symbol}, "an element") && made.add(some_rank, "an element") ? open{made.y()} : open{};
}
static_assert(of_sequence() == open{symbol, unknown});

constexpr std::int64_t two_one[] = {2, 1}, two_two[] = {2, 2}, negative[] = {4, -1}, two[] = {2}, zero[] = {0};
constexpr result<split> cut(const known& x, std::int64_t axis, std::size_t count, const split_sizes& how) {
  return split_of<std::int64_t>(x, axis, count, how);
}
static_assert(value_in(cut({3, 4}, 0, 2, {two_one})).shape_of(1) == known{1, 4} &&
              value_in(cut({3, 4}, 0, 2, {two_one})).size_at(0) == 2);
static_assert(value_in(cut({4, 3}, 1, 3, {})).size_at(2) == 1 && value_in(cut({4, 3}, 0, 2, {})).size_at(1) == 2);
constexpr split uneven = value_in(cut({7}, 0, 4, {{}, 4, true}));
static_assert(uneven.size_at(0) == 2 && uneven.size_at(3) == 1);
constexpr split few = value_in(cut({4}, 0, 3, {{}, 0, true}));
static_assert(few.size_at(0) == 2 && few.size_at(1) == 2 && few.size_at(2) == 0);
static_assert(value_in(cut({0}, 0, 3, {})).size_at(2) == 0);
static_assert(says(cut({7}, 0, 4, {}),
                   "the input has 7 elements along axis 0, must have a multiple of 4, the number of "
                   "outputs"));
static_assert(says(cut({7}, 0, 4, {{}, 3, true}), "attribute num_outputs is 3, must be 4, the number of outputs"));
static_assert(says(cut({7}, 0, 3, {two_one}), "split has 2 sizes, must have one for each of 3 outputs"));
static_assert(says(cut({4}, 0, 2, {two_one}), "the sizes in split add up to 3, must add up to 4, the size of axis 0"));
static_assert(says(cut({3}, 0, 2, {negative}), "split has a size of -1, must be 0 or more"));
static_assert(value_in(split_of<dim>(open{symbol, n(3)}, 0, 2, {two_one})).size_at(1) == n(1));
static_assert(value_in(split_of<dim>(open{symbol, n(3)}, 0, 2, {})).shape_of(unknown) == open{unknown, n(3)});
static_assert(!value_in(split_of<dim>(open{n(4)}, 0, 2, {number_list::unknown()})).has_parts);
static_assert(!value_in(split_of<dim>(open_shape{}, 0, 2, {})).shape_of(unknown).is_known);

constexpr result<split> list(const known& x, std::int64_t axis, const number_list& sizes, bool is_number,
                             bool keeps = true) {
  return split_to_sequence_of<std::int64_t>(x, axis, sizes, is_number, keeps);
}
constexpr number_list absent{};
static_assert(value_in(list({3, 4}, 0, two, true)).count == 2 && value_in(list({3, 4}, 0, two, true)).size_at(1) == 1);
static_assert(value_in(list({3, 4}, 0, two, true)).common_size() == 0);  // of numbers: none
static_assert(value_in(list({3, 4}, 0, two_one, false)).count == 2 &&
              value_in(list({3, 4}, 1, two_two, false)).common_size() == 2);
static_assert(value_in(list({3, 4}, 0, absent, false)).shape_of(1) == known{1, 4} &&
              value_in(list({3, 4}, 0, absent, false, false)).shape_of(1) == known{4} &&
              value_in(list({3, 4}, 0, absent, false, false)).count == 3);
static_assert(says(list({3, 4}, 0, zero, true), "split is 0, must be 1 or more"));
static_assert(says(list({3, 4}, 0, two, false),
                   "the sizes in split add up to 2, must add up to 3, the size of axis 0"));
static_assert(value_in(split_to_sequence_of<dim>(open{symbol}, 0, absent, false, true)).common_size() == n(1) &&
              value_in(split_to_sequence_of<dim>(open{symbol}, 0, absent, false, true)).count == symbol);
static_assert(value_in(split_to_sequence_of<dim>(open{symbol}, 0, two, true, true)).common_size() == unknown &&
              value_in(split_to_sequence_of<dim>(open{n(4)}, 0, two, true, true)).common_size() == n(2));
static_assert(value_in(split_to_sequence_of<dim>(open{n(4)}, 0, number_list::unknown(), true, false))
                  .shape_of(unknown) == open{unknown});

TEST_CASE("geometry: joins and splits are checked alike for both kinds of size") {
  each_shape(2, 3, [](const known& a) {
    each_shape(2, 3, [&](const known& b) {
      for (std::int64_t axis = -2; axis < 3; ++axis)
        for (const bool is_new : {false, true}) {
          const auto running = run(axis, is_new, {a, b});
          const auto loading = load(axis, is_new, {as_dims(a), as_dims(b)});
          if (agree(running, loading)) CHECK(loading->y() == as_dims(running->y()));
        }
    });
    for (std::int64_t axis = -2; axis < 3; ++axis)
      for (const split_sizes& how : {split_sizes{}, split_sizes{{}, 0, true}, split_sizes{two_one}}) {
        const auto running = cut(a, axis, 2, how);
        const auto loading = split_of<dim>(as_dims(a), axis, 2, how);
        if (!agree(running, loading)) continue;
        CHECK(running->size_at(0) + running->size_at(1) == running->size);
        CHECK(loading->size_at(1) == n(running->size_at(1)));
      }
  });
}

}  // namespace joined_shapes
