#include <algorithm>
#include <cmath>
#include <utility>

#include "decoder_steps.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

constexpr search_inputs beam_inputs{2, 6, 7, 8, 9};

/// A sequence that ended.
struct ended_sequence {
  float score;
  std::int64_t length;
  std::int32_t* tokens;
};

/// The best sequences of a batch that ended, the worst of them first to go.
struct ended_sequences {
  ended_sequence* all;  // room for `most`
  std::int64_t most, count = 0;
  bool done = false;

  std::int64_t worst() const {
    std::int64_t at = 0;
    for (std::int64_t i = 1; i < count; ++i)
      if (all[i].score < all[at].score) at = i;
    return at;
  }
  void add(std::span<const std::int32_t> tokens, float sum, float length_penalty) {
    const float score = scored(sum, std::int64_t(tokens.size()), length_penalty);
    if (count == most && !(score > all[worst()].score)) return;
    ended_sequence& to = all[count < most ? count++ : worst()];
    to.score = score, to.length = std::int64_t(tokens.size());
    std::ranges::copy(tokens, to.tokens);
  }
  static float scored(float sum, std::int64_t length, float length_penalty) {
    return sum / std::pow(float(length), length_penalty);
  }
};

/// The numbers of a beam search, checked.
struct beam_plan : search_plan {
  std::int32_t beams = 1, wanted = 1;
  float length_penalty = 1;
};

status read_beams(const run_context& c, beam_plan& out) {
  if (status read = read_plan(c, beam_inputs, out); !read) return read;
  if (status read = read_scalar(c, 3, "num_beams", out.beams); !read) return read;
  if (status read = read_scalar(c, 4, "num_return_sequences", out.wanted); !read) return read;
  if (status read = read_scalar(c, 5, "length_penalty", out.length_penalty); !read) return read;
  if (out.beams < 1 || out.beams > 128) return bad_input("num_beams is ", out.beams, ", must be from 1 to 128");
  if (out.wanted < 1 || out.wanted > out.beams)
    return bad_input("num_return_sequences is ", out.wanted, ", must be from 1 to num_beams ", out.beams);
  return {};
}

void to_logarithms(const float* logits, std::int64_t n, float* y) {
  const float most = *std::max_element(logits, logits + n);
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::exp(double(logits[i]) - double(most));
  const float log_sum = float(std::log(sum));
  for (std::int64_t i = 0; i < n; ++i) y[i] = logits[i] - most - log_sum;
}

/// A search of one run, after the first call of the decoder.
struct beams_state {
  const beam_plan& plan;
  std::int64_t words, end, pad;
  bool stops_early;
  token_rows rows, others;  // of all beams; the second is where the next step's are put together
  std::span<float> scores, sums;
  std::span<std::int64_t> order;
  std::span<std::int32_t> next, parents;
  std::span<ended_sequences> found;

  /// The 2 * beams likeliest of a batch go on, or end; those of one that is done are the pad.
  void choose(std::int64_t b) {
    const std::int64_t beams = plan.beams, all = beams * words, first = b * beams;
    ended_sequences& ended = found[std::size_t(b)];
    if (ended.done) {
      for (std::int64_t i = first; i < first + beams; ++i)
        next[std::size_t(i)] = std::int32_t(pad), parents[std::size_t(i)] = std::int32_t(i), sums[std::size_t(i)] = 0;
      return;
    }
    const float* const of = scores.data() + first * words;
    const std::int64_t candidates = std::min(2 * beams, all);
    for (std::int64_t i = 0; i < all; ++i) order[std::size_t(i)] = i;
    std::partial_sort(order.begin(), order.begin() + candidates, order.begin() + all,
                      [of](std::int64_t x, std::int64_t y) { return of[x] > of[y] || (of[x] == of[y] && x < y); });
    float chosen_sums[128];
    std::int64_t chosen = 0;
    for (std::int64_t i = 0; i < candidates && chosen < beams; ++i) {
      const std::int64_t at = order[std::size_t(i)], parent = first + at / words, word = at % words;
      if (word == end) {
        if (i < beams) ended.add(rows.at(parent), of[at], plan.length_penalty);
        continue;
      }
      next[std::size_t(first + chosen)] = std::int32_t(word),
                               parents[std::size_t(first + chosen)] = std::int32_t(parent);
      chosen_sums[chosen++] = of[at];
    }
    for (std::int64_t i = 0; i < beams; ++i) {  // words so few that all of them end: the rest goes on with pads
      if (i >= chosen)
        next[std::size_t(first + i)] = std::int32_t(pad), parents[std::size_t(first + i)] = std::int32_t(first);
      sums[std::size_t(first + i)] = i < chosen ? chosen_sums[i] : score_changes::lowest;
    }
    if (ended.count < beams) return;
    const float best = ended_sequences::scored(of[order[0]], rows.length, plan.length_penalty);
    ended.done = stops_early || ended.all[ended.worst()].score >= best;
  }
  /// True when all batches are done.
  bool step() {
    for (std::int64_t r = 0; r < rows.count; ++r)
      for (std::int64_t w = 0; w < words; ++w) scores[std::size_t(r * words + w)] += sums[std::size_t(r)];
    for (std::int64_t b = 0; b < plan.batches; ++b) choose(b);
    for (std::int64_t r = 0; r < rows.count; ++r) {
      std::ranges::copy(rows.at(parents[std::size_t(r)]), others.row(r));
      others.row(r)[rows.length] = next[std::size_t(r)];
    }
    others.length = rows.length + 1;
    std::swap(rows, others);
    return std::ranges::all_of(found, &ended_sequences::done);
  }
};

}  // namespace

result<beam_search> beam_search::bind(bind_context& c) {
  const result<token_search> base = of(c);
  if (!base) return base.error();
  for (const std::size_t i : {10, 11})
    if (c.has_input(i))
      return refuse(status_code::not_implemented, "input ", i == 10 ? "decoder_input_ids" : "logits_processor",
                    " is for models with an encoder");
  if (c.inputs[0].type != dtype::i32)
    return refuse(status_code::not_implemented, "input_ids are ", c.inputs[0].type,
                  ", which models with an encoder take");
  beam_search made{*base};
  made.stops_early = c.int_or("early_stopping", 0) == 1;
  return made;
}

status beam_search::run(run_context& c) const {
  beam_plan plan;
  if (status read = read_beams(c, plan); !read) return read;
  const std::int64_t beams = plan.beams, rows = plan.batches * beams;
  const result<tensor_view<std::int32_t>> y = c.output<std::int32_t>(0, {plan.batches, plan.wanted, plan.most});
  if (!y) return y.error();
  decoder_steps steps{c, *this};
  if (status begun = steps.begin(c.input(0), c.input(beam_inputs.attention), beams); !begun) return begun;
  if (status done = steps.call(); !done) return done;
  const std::int64_t count = words ? std::min(words, steps.words()) : steps.words();
  score_changes changes;
  if (status read = read_changes(c, beam_inputs, plan, count, end, ngram, changes); !read) return read;
  std::int64_t cells = 0, tokens = 0;
  if (!extents{rows, count}.checked_count(cells) || !extents{rows, plan.most}.checked_count(tokens))
    return status_code::out_of_memory;
  const auto scores = c.scratch<float>(std::size_t(cells)), sums = c.scratch<float>(std::size_t(rows));
  const auto order = c.scratch<std::int64_t>(std::size_t(beams * count));
  const auto next = c.scratch<std::int32_t>(std::size_t(rows)), parents = c.scratch<std::int32_t>(std::size_t(rows));
  const auto found = c.scratch<ended_sequences>(std::size_t(plan.batches));
  const auto kept = c.scratch<ended_sequence>(std::size_t(rows));
  result<std::span<std::int32_t>> room[3] = {status_code::ok, status_code::ok, status_code::ok};
  for (auto& each : room) {
    each = c.scratch<std::int32_t>(std::size_t(tokens));
    if (!each) return each.error();
  }
  float* all_scores = nullptr;
  if (c.has_output(2)) {
    const auto made = c.output<float>(2, {plan.most - plan.length, plan.batches, beams, count});
    if (!made) return made.error();
    all_scores = made->data();
    std::fill(made->begin(), made->end(), 0.0f);
  }
  if (!scores || !sums || !order || !next || !parents || !found || !kept) return status_code::out_of_memory;
  beams_state state{plan,
                    count,
                    end,
                    pad,
                    stops_early,
                    {room[0]->data(), rows, plan.length, plan.most},
                    {room[1]->data(), rows, plan.length, plan.most},
                    *scores,
                    *sums,
                    *order,
                    *next,
                    *parents,
                    *found};
  for (std::int64_t r = 0; r < rows; ++r) {
    std::copy_n(c.input<std::int32_t>(0).data() + r / beams * plan.length, plan.length, state.rows.row(r));
    (*kept)[std::size_t(r)] = {0, 0, room[2]->data() + r * plan.most};
    (*sums)[std::size_t(r)] = r % beams == 0 ? 0.0f : -1e9f;  // beams begin alike, and must not go on alike
    if (r % beams == 0) (*found)[std::size_t(r / beams)] = {kept->data() + r, beams};
  }
  for (std::int64_t step = 0;; ++step) {
    for (std::int64_t r = 0; r < rows; ++r) to_logarithms(steps.logits(r), count, scores->data() + r * count);
    changes.apply(state.rows, step == 0, scores->data());
    const bool over = state.step();
    if (all_scores) all_scores = std::copy(scores->begin(), scores->end(), all_scores);
    if (over || state.rows.length == plan.most) break;
    if (status done = steps.advance(*next, beams == 1 ? nullptr : parents->data()); !done) return done;
    if (status done = steps.call(); !done) return done;
  }
  steps.end();
  float* of_sequences = nullptr;
  if (c.has_output(1)) {
    const auto made = c.output<float>(1, {plan.batches, plan.wanted});
    if (!made) return made.error();
    of_sequences = made->data();
  }
  std::fill(y->begin(), y->end(), std::int32_t(pad));
  for (std::int64_t b = 0; b < plan.batches; ++b) {
    ended_sequences& ended = (*found)[std::size_t(b)];
    for (std::int64_t i = 0; !ended.done && i < beams; ++i)
      ended.add(state.rows.at(b * beams + i), (*sums)[std::size_t(b * beams + i)], plan.length_penalty);
    std::stable_sort(ended.all, ended.all + ended.count,
                     [](const ended_sequence& x, const ended_sequence& z) { return x.score > z.score; });
    for (std::int64_t i = 0; i < plan.wanted; ++i) {
      const ended_sequence& from = ended.all[i];
      std::copy_n(from.tokens, from.length, y->data() + (b * plan.wanted + i) * plan.most);
      if (of_sequences) of_sequences[b * plan.wanted + i] = from.score;
    }
  }
  return {};
}

}  // namespace cameo::inline CAMEO_ABI::eps
