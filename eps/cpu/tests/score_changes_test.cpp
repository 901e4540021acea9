// How searches for tokens change the scores of a step.
#include "../src/search/score_changes.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace cameo;

TEST_CASE("a pad that is no word of the decoder has no score: nothing beside the scores is written") {
  constexpr std::int32_t pad = 1'000'000'000;
  std::vector<std::int32_t> tokens{1, pad, 1, pad, 2, 3, 2, -1};
  const eps::token_rows rows{tokens.data(), 2, 4, 4};
  eps::score_changes changes;
  changes.penalty = 2, changes.batches = 2, changes.words = 4;
  std::vector<float> scores{1, 2, -3, 4, 1, 2, -3, 4};
  changes.apply(rows, 1, scores.data());
  CHECK(scores == std::vector<float>{1, 1, -3, 4, 1, 2, -6, 2});
  // The tokens that would repeat two in a row fall to the least float, where they are words.
  tokens = {1, 2, 0, 1, 2, pad, 0, 2};
  scores.assign(8, 1.0f);
  changes.penalty = 1, changes.ngram = 2;
  changes.apply(rows, 1, scores.data());
  constexpr float lowest = eps::score_changes::lowest;
  CHECK(scores == std::vector<float>{1, 1, lowest, 1, 1, 1, 1, 1});
}
