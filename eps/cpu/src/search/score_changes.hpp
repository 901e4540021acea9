#pragma once
#include <cameo/core/abi.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "timestamp_rules.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Rows of tokens that grow at the same pace, in memory for `capacity` tokens each.
struct token_rows {
  std::int32_t* tokens = nullptr;
  std::int64_t count = 0, length = 0, capacity = 0;

  std::int32_t* row(std::int64_t i) const { return tokens + i * capacity; }
  std::span<const std::int32_t> at(std::int64_t i) const { return {row(i), std::size_t(length)}; }
};

/// Changes the scores of a step before tokens are chosen, in the order of ONNX Runtime's logits processors. Tokens that
/// are not words of the decoder, as pads may be, have no score.
struct score_changes {
  float penalty = 1;
  std::int64_t ngram = 0, least_length = 0, end = 0, batches = 0, words = 0;
  const std::int32_t *mask = nullptr, *first_mask = nullptr;  // [words], [batches, words]; 0: not allowed
  float temperature = 1;                                      // 0 or less: no change
  const timestamp_rules* times = nullptr;
  const std::int32_t* forced = nullptr;  // [batches, forced_length]: tokens of the first steps; not a word: no change
  std::int64_t forced_length = 0;

  static constexpr float lowest = std::numeric_limits<float>::lowest();

  /// Changes the scores of all rows at step 0, 1, ... first_mask applies to the forced steps and to the first step that
  /// is not forced.
  void apply(const token_rows& rows, std::int64_t step, float* scores) const {
    for (std::int64_t r = 0; r < rows.count; ++r, scores += words) {
      const std::span<const std::int32_t> tokens = rows.at(r);
      const std::int64_t batch = r / (rows.count / batches);
      if (penalty != 1) punish(tokens, scores);
      if (ngram > 0) forbid_repeats(tokens, scores);
      const std::int32_t* const of_batch = first_mask && step <= forced_length ? first_mask + batch * words : nullptr;
      for (std::int64_t w = 0; w < words; ++w)
        if ((mask && mask[w] == 0) || (of_batch && of_batch[w] == 0)) scores[w] = lowest;
      if (rows.length < least_length) scores[end] = lowest;
      if (temperature > 0 && temperature != 1)
        for (std::int64_t w = 0; w < words; ++w) scores[w] /= temperature;
      if (times) times->apply(tokens, {scores, std::size_t(words)});
      if (step < forced_length) force(forced[batch * forced_length + step], scores);
    }
  }

 private:
  bool is_word(std::int32_t token) const { return token >= 0 && token < words; }
  void force(std::int32_t token, float* scores) const {
    if (!is_word(token)) return;
    std::fill_n(scores, words, lowest);
    scores[token] = 0;
  }
  void punish(std::span<const std::int32_t> tokens, float* scores) const {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto before = tokens.first(i);
      if (std::find(before.begin(), before.end(), tokens[i]) != before.end()) continue;
      if (!is_word(tokens[i])) continue;
      float& score = scores[tokens[i]];
      score = score < 0 ? score * penalty : score / penalty;
    }
  }
  void forbid_repeats(std::span<const std::int32_t> tokens, float* scores) const {
    const auto n = std::size_t(ngram);
    if (n > tokens.size()) return;
    const auto last = tokens.last(n - 1);
    for (std::size_t i = 0; i + n <= tokens.size(); ++i)
      if (is_word(tokens[i + n - 1]) && std::equal(last.begin(), last.end(), tokens.begin() + std::ptrdiff_t(i)))
        scores[tokens[i + n - 1]] = lowest;
  }
};

}  // namespace CAMEO_NAMESPACE::eps
