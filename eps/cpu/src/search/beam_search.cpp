#include <algorithm>
#include <cmath>
#include <utility>

#include <cameo/op/attributes/microsoft.hpp>

#include "cross_scores.hpp"
#include "decoder_steps.hpp"
#include "skeletons/float_output.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

// The indices of inputs and outputs: beam_inputs of both operators, all others of WhisperBeamSearch alone.
constexpr search_inputs beam_inputs{2, 6, 7, 8, 9, 10};
constexpr std::size_t processor_input = 11, pairs_input = 12, extra_input = 13, temperature_input = 14;
constexpr std::size_t cross_output = 3, no_speech_output = 4;

/// A sequence that has ended, and its path: the rows that it was in when the decoder read its tokens.
struct ended_sequence {
  float score;
  std::int64_t length, path_length;
  std::int32_t *tokens, *path;
};

/// The best `most` sequences of a batch that have ended.
struct ended_sequences {
  ended_sequence* all;  // memory for `most` sequences
  std::int64_t most, count = 0;
  bool done = false;

  std::int64_t worst() const {
    std::int64_t at = 0;
    for (std::int64_t i = 1; i < count; ++i)
      if (all[i].score < all[at].score) at = i;
    return at;
  }
  void add(std::span<const std::int32_t> tokens, std::span<const std::int32_t> path, float sum, float length_penalty) {
    const float score = scored(sum, std::int64_t(tokens.size()), length_penalty);
    if (count == most && !(score > all[worst()].score)) return;
    ended_sequence& to = all[count < most ? count++ : worst()];
    to.score = score, to.length = std::int64_t(tokens.size());
    to.path_length = std::int64_t(path.size());
    std::ranges::copy(tokens, to.tokens);
    std::ranges::copy(path, to.path);
  }
  static float scored(float sum, std::int64_t length, float length_penalty) {
    return sum / std::pow(float(length), length_penalty);
  }
};

/// The parameters of a beam search, which have been checked.
struct beam_plan : search_plan {
  std::int32_t beams = 1, wanted = 1;
  float length_penalty = 1;
};

status read_beams(const run_context& c, const token_search& how, beam_plan& out) {
  if (status read = read_plan(c, how, beam_inputs, out); !read) return read;
  read_scalar(c, 3, out.beams);
  read_scalar(c, 4, out.wanted);
  read_scalar(c, 5, out.length_penalty);
  return check_all(
      {check_number("num_beams", out.beams, 1, 128), check_number("num_return_sequences", out.wanted, 1, out.beams)});
}

/// Reads the score changes of WhisperBeamSearch, too.
status read_beam_changes(const run_context& c, const beam_search& how, const beam_plan& plan, std::int64_t words,
                         const timestamp_rules& times, score_changes& out) {
  if (status read = read_changes(c, how, beam_inputs, plan, words, out); !read) return read;
  if (how.kind != token_search::model::whisper) return {};
  std::int32_t processor = 0;
  read_scalar(c, processor_input, processor);
  read_scalar(c, temperature_input, out.temperature);
  if (status s = check_at_least("logits_processor", processor, 0); !s) return s;
  if (processor == 1) {
    if (status s = check_number("beginning_timestamp_token_id", times.first_time, 0, out.words - 1); !s) return s;
    out.times = &times;
  }
  const value& forced = c.input(extra_input);
  if (!forced) return {};
  out.forced = forced.as_unchecked<std::int32_t>().data(), out.forced_length = forced.shape[1];
  return {};
}

void to_logarithms(const float* logits, std::int64_t n, float* y) {
  const float most = *std::max_element(logits, logits + n);
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::exp(double(logits[i]) - double(most));
  const float log_sum = float(std::log(sum));
  for (std::int64_t i = 0; i < n; ++i) y[i] = logits[i] - most - log_sum;
}

/// The state of a search in one run, after the first call of the decoder.
struct beams_state {
  const beam_plan& plan;
  std::int64_t end, pad;
  bool stops_early;
  std::int64_t words = 0;
  token_rows rows = {}, others = {};  // the sequences of all beams, and a buffer for those of the next step
  token_rows paths = {}, other_paths = {};
  std::span<float> scores = {}, sums = {};
  std::span<std::int64_t> order = {};
  std::span<std::int32_t> next = {}, parents = {};
  std::span<ended_sequences> found = {};

  /// Chooses the continuations of a batch: of its 2 * beams most likely candidates, some end, and the first `beams`
  /// others continue. A batch that is done continues with pads.
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
        if (i < beams) ended.add(rows.at(parent), paths.at(parent), of[at], plan.length_penalty);
        continue;
      }
      next[std::size_t(first + chosen)] = std::int32_t(word),
                               parents[std::size_t(first + chosen)] = std::int32_t(parent);
      chosen_sums[chosen++] = of[at];
    }
    for (std::int64_t i = 0; i < beams; ++i) {  // with too few candidates, the rest continues with pads
      if (i >= chosen)
        next[std::size_t(first + i)] = std::int32_t(pad), parents[std::size_t(first + i)] = std::int32_t(first);
      sums[std::size_t(first + i)] = i < chosen ? chosen_sums[i] : score_changes::lowest;
    }
    if (ended.count < beams) return;
    const float best = ended_sequences::scored(of[order[0]], rows.length, plan.length_penalty);
    ended.done = stops_early || ended.all[ended.worst()].score >= best;
  }
  /// Adds to the path of each sequence the row that the decoder read its token in.
  void extend_paths() {
    for (std::int64_t r = 0; r < rows.count; ++r) paths.row(r)[paths.length] = std::int32_t(r);
    ++paths.length;
  }
  /// Adds a token to each sequence; true if all batches are done.
  bool step() {
    for (std::int64_t r = 0; r < rows.count; ++r)
      for (std::int64_t w = 0; w < words; ++w) scores[std::size_t(r * words + w)] += sums[std::size_t(r)];
    for (std::int64_t b = 0; b < plan.batches; ++b) choose(b);
    for (std::int64_t r = 0; r < rows.count; ++r) {
      std::ranges::copy(rows.at(parents[std::size_t(r)]), others.row(r));
      others.row(r)[rows.length] = next[std::size_t(r)];
      std::ranges::copy(paths.at(parents[std::size_t(r)]), other_paths.row(r));
    }
    others.length = rows.length + 1, other_paths.length = paths.length;
    std::swap(rows, others), std::swap(paths, other_paths);
    return std::ranges::all_of(found, &ended_sequences::done);
  }
};

/// The outputs of scores, and of the probability that there is no speech; null: the node does not have them.
struct shown_words {
  float *scores = nullptr, *no_speech = nullptr;
  std::int64_t no_speech_word = -1;

  status make(run_context& c, const beam_plan& plan, std::int64_t word, std::int64_t words) {
    const extents shape{plan.most - plan.length, plan.batches, plan.beams, words};
    const result<float*> all = optional_floats(c, 2, shape),
                         none = optional_floats(c, no_speech_output, {plan.batches});
    if (!all) return all.error();
    if (!none) return none.error();
    scores = *all, no_speech = *none, no_speech_word = word;
    if (scores) std::fill_n(scores, shape.count(), 0.0f);
    return no_speech ? check_number("no_speech_token_id", word, 0, words - 1) : status{};
  }
  void take_no_speech(const beam_plan& plan, std::span<const float> logarithms, std::int64_t words) {
    for (std::int64_t b = 0; no_speech && b < plan.batches; ++b)
      no_speech[b] = std::exp(logarithms[std::size_t(b * plan.beams * words + no_speech_word)]);
  }
  void take_scores(std::span<const float> step) {
    if (scores) scores = std::copy(step.begin(), step.end(), scores);
  }
};

/// Takes the memory of a search, for a vocabulary of `words` words, and sets its initial state.
status take_memory(run_context& c, beams_state& state, std::int64_t words, bool with_paths,
                   std::span<ended_sequence>& kept) {
  const beam_plan& plan = state.plan;
  const std::int64_t rows = plan.batches * plan.beams, longest = with_paths ? plan.most : 0;
  std::int64_t cells = 0, tokens = 0;
  if (!extents{rows, words}.checked_count(cells) || !extents{rows, plan.most}.checked_count(tokens))
    return status_code::out_of_memory;
  const auto scores = c.scratch<float>(std::size_t(cells)), sums = c.scratch<float>(std::size_t(rows));
  const auto order = c.scratch<std::int64_t>(std::size_t(plan.beams * words));
  const auto next = c.scratch<std::int32_t>(std::size_t(rows)), parents = c.scratch<std::int32_t>(std::size_t(rows));
  const auto found = c.scratch<ended_sequences>(std::size_t(plan.batches));
  const auto ended = c.scratch<ended_sequence>(std::size_t(rows));
  if (!scores || !sums || !order || !next || !parents || !found || !ended) return status_code::out_of_memory;
  std::int32_t* room[6] = {};
  for (std::size_t i = 0; i < 6; ++i) {
    const auto made = c.scratch<std::int32_t>(std::size_t(i < 3 ? tokens : rows * longest));
    if (!made) return made.error();
    room[i] = made->data();
  }
  state.words = words, state.scores = *scores, state.sums = *sums, state.order = *order, state.next = *next;
  state.parents = *parents, state.found = *found, kept = *ended;
  state.rows = {room[0], rows, plan.length, plan.most}, state.others = {room[1], rows, plan.length, plan.most};
  state.paths = {room[3], rows, 0, longest}, state.other_paths = {room[4], rows, 0, longest};
  for (std::int64_t r = 0; r < rows; ++r) {
    plan.begin(r / plan.beams, state.rows.row(r));
    kept[std::size_t(r)] = {0, 0, 0, room[2] + r * plan.most, room[5] + r * longest};
    state.sums[std::size_t(r)] = r % plan.beams == 0 ? 0.0f : -1e9f;  // all beams begin equal, so only the first counts
    if (r % plan.beams == 0) state.found[std::size_t(r / plan.beams)] = {kept.data() + r, plan.beams};
  }
  return {};
}

/// Writes the outputs: the best sequences of each batch, including those that have not ended.
status write_outputs(run_context& c, beams_state& state, std::int32_t* y, cross_scores* crossed) {
  const beam_plan& plan = state.plan;
  const result<float*> of_sequences = optional_floats(c, 1, {plan.batches, plan.wanted});
  if (!of_sequences) return of_sequences.error();
  if (crossed)
    if (status made = crossed->open(c, cross_output, plan.batches, plan.wanted); !made) return made;
  std::fill_n(y, plan.batches * plan.wanted * plan.most, std::int32_t(state.pad));
  for (std::int64_t b = 0; b < plan.batches; ++b) {
    ended_sequences& ended = state.found[std::size_t(b)];
    for (std::int64_t r = b * plan.beams; !ended.done && r < (b + 1) * plan.beams; ++r)
      ended.add(state.rows.at(r), state.paths.at(r), state.sums[std::size_t(r)], plan.length_penalty);
    std::stable_sort(ended.all, ended.all + ended.count,
                     [](const ended_sequence& x, const ended_sequence& z) { return x.score > z.score; });
    for (std::int64_t i = b * plan.wanted; i < (b + 1) * plan.wanted; ++i) {
      const ended_sequence& from = ended.all[i - b * plan.wanted];
      std::copy_n(from.tokens, from.length, y + i * plan.most);
      if (*of_sequences) (*of_sequences)[i] = from.score;
      if (crossed) crossed->write(i, {from.path, std::size_t(from.path_length)});
    }
  }
  return {};
}

}  // namespace

result<beam_search> beam_search::bind(bind_context& c) {
  const attributes_of<op::microsoft::WhisperBeamSearch> a{c.attributes};  // has all of BeamSearch
  const result<token_search> base = read(c, a.decoder_output_cross_qk.value_or(0) != 0);
  if (!base) return base.error();
  const special_words special{a.translate_token_id.value_or(-1),     a.transcribe_token_id.value_or(-1),
                              a.start_of_lm_token_id.value_or(-1),   a.no_speech_token_id.value_or(-1),
                              a.no_timestamps_token_id.value_or(-1), a.beginning_timestamp_token_id.value_or(-1)};
  const status has = check_all(
      {check_needs("the output cross_qk", c.has_output(cross_output), "decoder_output_cross_qk", base->shown != 0),
       check_needs("the output non_speech_probs", c.has_output(no_speech_output), "no_speech_token_id",
                   special.no_speech >= 0)});
  if (!has) return of_model(has);
  return beam_search{*base, a.early_stopping == 1, special};
}

status beam_search::run(run_context& c) const {
  beam_plan plan;
  if (status read = read_beams(c, *this, plan); !read) return read;
  const bool crosses = c.has_output(cross_output);
  const result<tensor_view<std::int32_t>> y = c.output<std::int32_t>(0, {plan.batches, plan.wanted, plan.most});
  if (!y) return y.error();
  decoder_steps steps{c, *this, plan, plan.beams};
  if (status begun = steps.begin(c.input(beam_inputs.attention)); !begun) return begun;
  const std::int64_t count = steps.words();
  score_changes changes;
  const timestamp_rules times{end,
                              start,
                              special.translate,
                              special.transcribe,
                              special.start_of_lm,
                              special.no_timestamps,
                              special.first_time};
  if (status read = read_beam_changes(c, *this, plan, count, times, changes); !read) return read;
  cross_scores crossed;
  if (status begun = crosses ? crossed.begin(c, steps, c.input(pairs_input), plan.most - plan.length) : status{};
      !begun)
    return begun;
  shown_words shown_of;
  if (status made = shown_of.make(c, plan, special.no_speech, count); !made) return made;
  beams_state state{plan, end, pad, stops_early};
  std::span<ended_sequence> kept;
  if (status made = take_memory(c, state, count, crosses, kept); !made) return made;
  for (std::int64_t step = 0;; ++step) {
    for (std::int64_t r = 0; r < steps.rows(); ++r)
      to_logarithms(steps.logits(r), count, state.scores.data() + r * count);
    if (step == 0) shown_of.take_no_speech(plan, state.scores, count);
    changes.apply(state.rows, step, state.scores.data());
    const bool over = state.step();
    shown_of.take_scores(state.scores);
    if (over || state.rows.length == plan.most) break;
    if (status done = steps.next(state.rows, plan.beams == 1 ? nullptr : state.parents.data()); !done) return done;
    if (!crosses) continue;
    if (status kept_scores = crossed.take(steps); !kept_scores) return kept_scores;
    state.extend_paths();
  }
  steps.end();
  return write_outputs(c, state, y->data(), crosses ? &crossed : nullptr);
}

}  // namespace CAMEO_NAMESPACE::eps
