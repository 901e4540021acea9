#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "common/operand_values.hpp"

namespace cameo::inline CAMEO_ABI::eps {

/// Rows of tokens that grow, in memory for their largest length.
struct token_rows {
  std::int32_t* tokens = nullptr;
  std::int64_t count = 0, length = 0, capacity = 0;

  std::int32_t* row(std::int64_t i) const { return tokens + i * capacity; }
  std::span<const std::int32_t> at(std::int64_t i) const { return {row(i), std::size_t(length)}; }
};

/// The one number of an input that may be left out.
template <class T>
status read_scalar(const run_context& c, std::size_t i, std::string_view what, T& out) {
  const value& v = c.input(i);
  if (!v) return {};
  if (v.shape.count() != 1) return bad_input(what, " must be one number, not ", v.shape);
  out = v.as_unchecked<T>()[0];
  return {};
}

/// How the scores of a step are changed before tokens are chosen: in the order of ONNX Runtime's processors.
struct score_changes {
  float penalty = 1;
  std::int64_t ngram = 0, least_length = 0, end = 0, batches = 0, words = 0;
  const std::int32_t *mask = nullptr, *first_mask = nullptr;  // [words], [batches, words]; 0: not allowed

  static constexpr float lowest = std::numeric_limits<float>::lowest();

  void apply(const token_rows& rows, bool first, float* scores) const {
    for (std::int64_t r = 0; r < rows.count; ++r, scores += words) {
      const std::span<const std::int32_t> tokens = rows.at(r);
      if (penalty != 1) punish(tokens, scores);
      if (ngram > 0) forbid_repeats(tokens, scores);
      const std::int32_t* const of_batch =
          first && first_mask ? first_mask + r / (rows.count / batches) * words : nullptr;
      for (std::int64_t w = 0; w < words; ++w)
        if ((mask && mask[w] == 0) || (of_batch && of_batch[w] == 0)) scores[w] = lowest;
      if (rows.length < least_length) scores[end] = lowest;
    }
  }

 private:
  void punish(std::span<const std::int32_t> tokens, float* scores) const {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto before = tokens.first(i);
      if (std::find(before.begin(), before.end(), tokens[i]) != before.end()) continue;
      float& score = scores[tokens[i]];
      score = score < 0 ? score * penalty : score / penalty;
    }
  }
  void forbid_repeats(std::span<const std::int32_t> tokens, float* scores) const {
    const auto n = std::size_t(ngram);
    if (n > tokens.size()) return;
    const auto last = tokens.last(n - 1);
    for (std::size_t i = 0; i + n <= tokens.size(); ++i)
      if (std::equal(last.begin(), last.end(), tokens.begin() + std::ptrdiff_t(i))) scores[tokens[i + n - 1]] = lowest;
  }
};

/// Inputs that all searches have, by their numbers.
struct search_inputs {
  std::size_t least_length, penalty, mask, first_mask, attention;
};

/// Sizes and changes of a run, checked but for what depends on the number of words.
struct search_plan {
  std::int64_t batches = 0, length = 0, most = 0;
  std::int32_t least = 0;
  float penalty = 1;
};

inline status read_plan(const run_context& c, const search_inputs& at, search_plan& out) {
  const value &ids = c.input(0), &attention = c.input(at.attention);
  if (ids.shape.rank() != 2 || ids.shape[0] < 1 || ids.shape[1] < 1)
    return bad_input("input_ids ", ids.shape, " must be [batch, length], with one token at least");
  out.batches = ids.shape[0], out.length = ids.shape[1];
  std::int32_t most = 0;
  if (status s = read_scalar(c, 1, "max_length", most); !s) return s;
  if (status s = read_scalar(c, at.least_length, "min_length", out.least); !s) return s;
  if (status s = read_scalar(c, at.penalty, "repetition_penalty", out.penalty); !s) return s;
  out.most = most;
  if (out.most <= out.length)
    return bad_input("max_length ", out.most, " must be above the ", out.length, " tokens of input_ids");
  if (out.least < 0 || out.least >= out.most)
    return bad_input("min_length ", out.least, " must be from 0 to below max_length ", out.most);
  if (!(out.penalty > 0)) return bad_input("repetition_penalty must be above 0");
  if (attention && attention.shape != ids.shape)
    return bad_input("attention_mask ", attention.shape, " must be ", ids.shape);
  return {};
}

/// The changes of a run for a decoder of so many words.
inline status read_changes(const run_context& c, const search_inputs& at, const search_plan& plan, std::int64_t words,
                           std::int64_t end, std::int64_t ngram, score_changes& out) {
  const value &mask = c.input(at.mask), &first_mask = c.input(at.first_mask);
  out.penalty = plan.penalty, out.ngram = ngram, out.least_length = plan.least, out.end = end;
  out.batches = plan.batches, out.words = words;
  if (mask && mask.shape != extents{words}) return bad_input("vocab_mask ", mask.shape, " must be ", extents{words});
  if (first_mask && first_mask.shape != extents{plan.batches, words})
    return bad_input("prefix_vocab_mask ", first_mask.shape, " must be ", extents{plan.batches, words});
  if (mask) out.mask = mask.as_unchecked<std::int32_t>().data();
  if (first_mask) out.first_mask = first_mask.as_unchecked<std::int32_t>().data();
  if (plan.least > 0 && end >= words) return bad_input("eos_token_id is ", end, ", the decoder has ", words, " words");
  if (plan.penalty != 1 || ngram > 0)
    for (const std::int32_t token : c.input<std::int32_t>(0))
      if (token < 0 || token >= words) return bad_input("input_ids has ", token, ", the decoder has ", words, " words");
  return {};
}

}  // namespace cameo::inline CAMEO_ABI::eps
