#include "both_kinds.hpp"

#include <cameo/geometry/recurrent.hpp>

namespace recurrent_networks {

using namespace both_kinds;
using cameo::geometry::recurrent;
using open_recurrent = basic_recurrent<dim>;

constexpr known x{7, 2, 3}, w{1, 20, 3}, r{1, 20, 5}, two_w{2, 20, 3}, state{1, 2, 5}, lengths{2}, wrong_lengths{7};
constexpr recurrent_attributes lstm{.gates = 4}, both{.hidden = 5, .directions = 2, .gates = 4, .batch_first = true};

constexpr recurrent forward = value_in(recurrent_of<std::int64_t>(
    {.x = x, .w = w, .r = r, .lengths = lengths, .initial_h = state, .initial_c = state}, lstm));
static_assert(forward.y == known{7, 1, 2, 5} && forward.state == known{1, 2, 5} && forward.width == 20);
static_assert(forward.steps == 7 && forward.batch == 2 && forward.inputs == 3 && forward.hidden == 5);
constexpr recurrent in_both = value_in(recurrent_of<std::int64_t>({.x = x, .w = two_w, .r = r}, both));
static_assert(in_both.y == known{7, 2, 2, 5} && in_both.state == known{7, 2, 5} && in_both.steps == 2);
constexpr known quantized_r{1, 6, 24};
static_assert(
    value_in(recurrent_of<std::int64_t>({.x = x, .r = quantized_r}, {.gates = 4, .transposed = true})).hidden == 6);

static_assert(says(recurrent_of<std::int64_t>({.x = x, .w = two_w, .r = r}, lstm),
                   "W has shape [2,20,3], must have 1 along axis 0, the number of directions"));
static_assert(says(recurrent_of<std::int64_t>({.x = x, .w = w, .r = r, .lengths = wrong_lengths}, lstm),
                   "sequence_lens has shape [7], must be [2]"));
static_assert(says(recurrent_of<std::int64_t>({.x = x, .w = w, .r = r, .initial_h = x}, lstm),
                   "initial_h has shape [7,2,3], must be [1,2,5]"));
static_assert(says(recurrent_of<std::int64_t>({.x = x, .w = w, .r = r, .initial_c = w}, lstm),
                   "initial_c has shape [1,20,3], must be [1,2,5]"));
constexpr known long_x{INT64_MAX, 2, 0}, wide_r{1, 0, INT64_MAX};
static_assert(says(recurrent_of<std::int64_t>({.x = long_x, .r = r}, lstm),
                   "X has shape [9223372036854775807,2,0], more steps than 64 bits count"));
static_assert(says(recurrent_of<std::int64_t>({.x = x, .r = wide_r}, lstm),
                   "the network has 9223372036854775807 hidden elements: more gates than 64 bits count"));
static_assert(says(recurrent_of<dim>({}, {.hidden = -1}), "attribute hidden_size is -1, must be 1 or more"));

// W of an AttnLSTM reads the inputs and the result of the attention.
constexpr known attending_w{1, 20, 9}, memory{2, 4, 6}, answer_weights{1, 11, 8};
static_assert(value_in(recurrent_of<std::int64_t>({.x = x, .w = attending_w, .r = r, .memory = memory, .attends = true},
                                                  lstm))
                  .answer == 6);
static_assert(says(recurrent_of<std::int64_t>({.x = x,
                                               .w = attending_w,
                                               .r = r,
                                               .memory = memory,
                                               .answer_weights = answer_weights,
                                               .attends = true,
                                               .has_answer_weights = true},
                                              lstm),
                   "W has shape [1,20,9], must have 3 + 8 columns"));

// Sizes that are unknown stay unknown, and ranks are known.
constexpr open open_x{symbol, other_symbol, n(3)}, open_r{n(1), n(20), n(5)};
constexpr open_recurrent opened = value_in(recurrent_of<dim>({.x = open_x, .r = open_r}, lstm));
static_assert(opened.y == open{symbol, n(1), other_symbol, n(5)} && opened.state == open{n(1), other_symbol, n(5)});
static_assert(value_in(recurrent_of<dim>({}, both)).y == open{unknown, unknown, n(2), n(5)});
static_assert(value_in(recurrent_of<dim>({.x = open_x}, lstm)).state == open{n(1), other_symbol, unknown});

TEST_CASE("geometry: a recurrent network has the same shapes for both kinds of size") {
  std::size_t made = 0;
  for (std::int64_t steps = 0; steps < 3; ++steps)
    for (std::int64_t batch = 0; batch < 3; ++batch)
      for (std::int64_t hidden = 0; hidden < 3; ++hidden)
        for (std::int64_t directions = 1; directions < 3; ++directions)
          for (const bool batch_first : {false, true}) {
            INFO("steps " << steps << ", batch " << batch << ", hidden " << hidden << ", directions " << directions);
            const known in{steps, batch, 3}, weights{1, 3 * hidden, 3}, recurrence{1, 3 * hidden, hidden}, counts{2};
            const open open_in = as_dims(in), open_weights = as_dims(weights), open_recurrence = as_dims(recurrence),
                       open_counts = as_dims(counts);
            const recurrent_attributes how{
                .hidden = 0, .directions = directions, .gates = 3, .batch_first = batch_first};
            const auto running =
                recurrent_of<std::int64_t>({.x = in, .w = weights, .r = recurrence, .lengths = counts}, how);
            const auto loading =
                recurrent_of<dim>({.x = open_in, .w = open_weights, .r = open_recurrence, .lengths = open_counts}, how);
            if (!agree(running, loading)) continue;
            ++made;
            CHECK(loading->y == as_dims(running->y));
            CHECK(loading->state == as_dims(running->state));
            CHECK(running->batch == 2);
            CHECK(running->width == 3 * hidden);
          }
  CHECK(made > 0);
}

}  // namespace recurrent_networks
