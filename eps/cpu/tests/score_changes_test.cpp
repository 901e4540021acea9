// The changes that token searches make to the scores of a step.
#include "../src/search/score_changes.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace cameo;

TEST_CASE("a padding token outside the vocabulary has no score, and no memory outside the scores is written") {
  constexpr std::int32_t pad = 1'000'000'000;
  std::vector<std::int32_t> tokens{1, pad, 1, pad, 2, 3, 2, -1};
  const eps::token_rows rows{tokens.data(), 2, 4, 4};
  eps::score_changes changes;
  changes.penalty = 2, changes.batches = 2, changes.words = 4;
  std::vector<float> scores{1, 2, -3, 4, 1, 2, -3, 4};
  changes.apply(rows, 1, scores.data());
  CHECK(scores == std::vector<float>{1, 1, -3, 4, 1, 2, -6, 2});
  // Tokens that would complete a repeated pair get the lowest float, if they are in the vocabulary.
  tokens = {1, 2, 0, 1, 2, pad, 0, 2};
  scores.assign(8, 1.0f);
  changes.penalty = 1, changes.ngram = 2;
  changes.apply(rows, 1, scores.data());
  constexpr float lowest = eps::score_changes::lowest;
  CHECK(scores == std::vector<float>{1, 1, lowest, 1, 1, 1, 1, 1});
}

TEST_CASE("Whisper's timestamps come in pairs that never decrease, and may be likelier together than any text") {
  // 0 and 1 are text, 2 is the end, 3 the start, 4 means "no timestamps"; timestamps are from 5 on.
  eps::timestamp_rules rules;
  rules.end = 2, rules.start = 3, rules.no_timestamps = 4, rules.first_time = 5;
  const auto allowed = [&](const std::vector<std::int32_t>& tokens, float time) {
    std::vector<float> scores(60, time);
    std::fill_n(scores.begin(), 5, -1.0f);
    rules.apply(tokens, scores);
    std::vector<int> left;
    for (int w = 0; w < 60; ++w)
      if (scores[std::size_t(w)] > eps::score_changes::lowest && (w < 8 || w > 54)) left.push_back(w);
    return left;
  };
  using list = std::vector<int>;
  CHECK(allowed({3}, -9) == list{0, 1, 2, 3, 5, 6, 7, 55});  // the first timestamp is limited
  CHECK(allowed({3}, -3) == list{5, 6, 7, 55});              // all timestamps together are likelier than text
  CHECK(allowed({3, 6}, -9) == list{0, 1, 2, 3});            // text follows the first timestamp
  CHECK(allowed({3, 6, 1}, -9) == list{0, 1, 2, 7, 55, 56, 57, 58, 59});
  CHECK(allowed({3, 6, 1, 7}, -9) == list{2, 7, 55, 56, 57, 58, 59});  // another one or the end follows one
  CHECK(allowed({3, 6, 1, 7, 7}, -9) == list{0, 1, 2});
  // Ids that are outside the vocabulary.
  rules.end = 1'000'000'000, rules.translate = -7, rules.transcribe = 1'000'000'000;
  CHECK(allowed({3, 6, 1, 2'000'000'000}, -9) == list{});
  rules.first_time = 0;
  CHECK(allowed({3, -1}, -9) == list{5, 6, 7, 55, 56, 57, 58, 59});
}

TEST_CASE("forced tokens are chosen in the first steps, and the temperature divides the scores after masks") {
  std::vector<std::int32_t> tokens{1, 1};
  const eps::token_rows rows{tokens.data(), 2, 1, 1};
  const std::vector<std::int32_t> forced{2, 1'000'000'000, 3, -1}, first{1, 1, 0, 1, 0, 1, 1, 1};
  eps::score_changes changes;
  changes.batches = 2, changes.words = 4, changes.temperature = 2;
  changes.forced = forced.data(), changes.forced_length = 2, changes.first_mask = first.data();
  constexpr float lowest = eps::score_changes::lowest;
  const auto after = [&](std::int64_t step) {
    std::vector<float> scores{1, 2, 3, 4, 5, 6, 7, 8};
    changes.apply(rows, step, scores.data());
    return scores;
  };
  CHECK(after(0) == std::vector<float>{lowest, lowest, 0, lowest, lowest, lowest, lowest, 0});
  CHECK(after(1) == std::vector<float>{0.5f, 1, lowest / 2, 2, lowest / 2, 3, 3.5f, 4});
  CHECK(after(2) == after(1));
  CHECK(after(3) == std::vector<float>{0.5f, 1, 1.5f, 2, 2.5f, 3, 3.5f, 4});
}
