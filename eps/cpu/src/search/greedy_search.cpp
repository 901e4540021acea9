#include <algorithm>
#include <numeric>

#include <cameo/op/attributes/microsoft.hpp>

#include "decoder_steps.hpp"
#include "functions/random_places.hpp"
#include "operands/scratch_of.hpp"

namespace CAMEO_NAMESPACE::eps {

result<greedy_search> greedy_search::bind(bind_context& c) {
  const result<token_search> base = read(c);
  if (!base) return base.error();
  greedy_search made{*base};
  made.samples = c.op_type == "Sampling";
  if (!made.samples) return made;
  const attributes_of<op::microsoft::Sampling> a{c.attributes};
  made.temperature = a.temperature, made.top_p = a.top_p, made.filter_value = a.filter_value;
  made.presence_penalty = a.presence_penalty, made.least_kept = a.min_tokens_to_keep, made.descends = a.custom != 0;
  return made;
}

namespace {

constexpr search_inputs greedy_inputs{2, 3, 4, 5, 6, 0};

/// The top-p filter of Sampling, and its buffers: words in order of their scores, and their probabilities.
struct likely_words {
  std::span<std::int64_t> order;
  std::span<float> chances;

  /// Sets the scores of words outside of the most likely ones, whose probabilities add up to top_p, to filter_value.
  void filter(const greedy_search& how, std::span<float> scores) const {
    const auto words = std::int64_t(scores.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return how.descends ? scores[std::size_t(a)] > scores[std::size_t(b)]
                          : scores[std::size_t(a)] < scores[std::size_t(b)];
    });
    const float most = *std::max_element(scores.begin(), scores.end());
    float sum = 0, reached = 0;
    for (std::int64_t i = 0; i < words; ++i)
      sum += chances[std::size_t(i)] = std::exp(scores[std::size_t(order[std::size_t(i)])] - most);
    const std::int64_t last = words - (how.descends ? 1 : std::max<std::int64_t>(1, how.least_kept));
    for (std::int64_t i = 0; i < std::max<std::int64_t>(last, 1); ++i) {
      reached += chances[std::size_t(i)] / sum;
      if (how.descends && reached > how.top_p && i + 1 < words)
        scores[std::size_t(order[std::size_t(i + 1)])] = how.filter_value;
      if (!how.descends && reached <= 1 - how.top_p) scores[std::size_t(order[std::size_t(i)])] = how.filter_value;
    }
  }
};

/// Draws a word with probabilities softmax(scores), by a random number `at` in [0, 1).
std::int32_t drawn(std::span<const float> scores, double at) {
  const float most = *std::max_element(scores.begin(), scores.end());
  double sum = 0, reached = 0;
  for (const float s : scores) sum += std::exp(double(s) - double(most));
  for (std::size_t i = 0; i < scores.size(); ++i) {
    reached += std::exp(double(scores[i]) - double(most));
    if (at * sum < reached) return std::int32_t(i);
  }
  return std::int32_t(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

/// The choice of tokens in one run.
struct token_choice {
  const greedy_search& how;
  likely_words likely = {};
  random_places numbers{0};
  const std::int32_t* presence = nullptr;  // [batches, words]; null: not given

  /// Reads the inputs of Sampling, for scores of this shape, and takes memory.
  status make(run_context& c, const extents& shape) {
    const value &given = c.input(7), &seed = c.input(8);
    if (status s = check_input("presence_mask", given, shape); !s) return s;
    if (given) presence = given.as_unchecked<std::int32_t>().data();
    std::int32_t number = 0;
    read_scalar(c, 8, number);
    numbers = random_places::make(bool(seed), std::uint32_t(number));
    const auto order = c.scratch<std::int64_t>(std::size_t(shape[1]));
    const auto chances = c.scratch<float>(std::size_t(shape[1]));
    if (!order || !chances) return status_code::out_of_memory;
    return likely = {*order, *chances}, status{};
  }
  /// Chooses the token that continues a row. Sampling changes the scores, and draws the number `draw`.
  std::int32_t choose(std::span<float> scores, std::int64_t row, std::int64_t draw) const {
    const auto words = std::int64_t(scores.size());
    if (!how.samples) return std::int32_t(std::max_element(scores.begin(), scores.end()) - scores.begin());
    for (std::int64_t w = 0; w < words; ++w) {
      scores[std::size_t(w)] /= how.temperature;
      if (presence) scores[std::size_t(w)] -= float(presence[row * words + w]) * how.presence_penalty;
    }
    likely.filter(how, scores);
    return drawn(scores, numbers.uniform(draw));
  }
};

}  // namespace

status greedy_search::run(run_context& c) const {
  search_plan plan;
  if (status read = read_plan(c, *this, greedy_inputs, plan); !read) return read;
  const result<tensor_view<std::int32_t>> y = c.output<std::int32_t>(0, {plan.batches, plan.most});
  if (!y) return y.error();
  std::fill(y->begin(), y->end(), std::int32_t(pad));
  token_rows rows{y->data(), plan.batches, plan.length, plan.most};
  for (std::int64_t r = 0; r < plan.batches; ++r) plan.begin(r, rows.row(r));
  decoder_steps steps{c, *this, plan, 1};
  if (status begun = steps.begin(c.input(greedy_inputs.attention)); !begun) return begun;
  const std::int64_t count = steps.words();
  score_changes changes;
  if (status read = read_changes(c, *this, greedy_inputs, plan, count, changes); !read) return read;
  const extents shape{plan.batches, count};
  const auto room = scratch_of<float>(c, shape);
  const auto ended = c.scratch<bool>(std::size_t(plan.batches));
  if (!room || !ended) return status_code::out_of_memory;
  const std::span<float> scores{*room, std::size_t(shape.count())};
  token_choice choice{*this};
  if (status made = samples ? choice.make(c, shape) : status{}; !made) return made;
  std::fill(ended->begin(), ended->end(), false);
  for (std::int64_t step = 0;; ++step) {
    for (std::int64_t r = 0; r < plan.batches; ++r) std::copy_n(steps.logits(r), count, scores.data() + r * count);
    changes.apply(rows, step, scores.data());
    for (std::int64_t r = 0; r < plan.batches; ++r) {
      std::int32_t token =
          choice.choose(scores.subspan(std::size_t(r * count), std::size_t(count)), r, step * plan.batches + r);
      bool& over = (*ended)[std::size_t(r)];
      over = over || token == end;
      if (over) token = std::int32_t(pad);
      rows.row(r)[rows.length] = token;
    }
    ++rows.length;
    if (rows.length == plan.most || std::find(ended->begin(), ended->end(), false) == ended->end()) break;
    if (status done = steps.next(rows, nullptr); !done) return done;
  }
  steps.end();
  if (!c.has_output(1)) return {};
  const result<tensor_view<float>> filtered = c.output<float>(1, {plan.batches, count});
  if (!filtered) return filtered.error();
  std::copy(scores.begin(), scores.end(), filtered->begin());
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
