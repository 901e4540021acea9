#pragma once
#include <cameo/core/abi.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace CAMEO_NAMESPACE::eps {

/// Restricts the next word if Whisper writes timestamps: words from `first_time` on are timestamps. They come in pairs
/// and never decrease, and if all timestamps together are more likely than any other word, the next word is a
/// timestamp. The members are special words, of which a decoder may lack some.
struct timestamp_rules {
  std::int64_t end = 0, start = -1, translate = -1, transcribe = -1, start_of_lm = -1, no_timestamps = -1;
  std::int64_t first_time = 0;
  static constexpr std::int64_t latest_first = 50;  // the first timestamp is at most first_time + latest_first

  static constexpr float lowest = std::numeric_limits<float>::lowest();

  /// Sets the scores of forbidden words to `lowest`. `scores` has a score for each word, including first_time.
  void apply(std::span<const std::int32_t> tokens, std::span<float> scores) const {
    const auto is_time = [this](std::int32_t token) { return token >= first_time; };
    const auto forbid = [scores](std::int64_t from, std::int64_t to) {
      const auto words = std::int64_t(scores.size());
      for (std::int64_t w = std::max<std::int64_t>(from, 0); w < std::min(to, words); ++w)
        scores[std::size_t(w)] = lowest;
    };
    const auto found = std::find_if(tokens.begin(), tokens.end(), is_time);
    const bool timed = found != tokens.end();
    const std::size_t begun = timed ? std::size_t(found - tokens.begin()) + 1 : tokens.size();
    const auto forbid_word = [scores](std::int64_t word) {  // which may be any number
      if (word >= 0 && word < std::int64_t(scores.size())) scores[std::size_t(word)] = lowest;
    };
    for (const std::int64_t word : {no_timestamps, start_of_lm}) forbid_word(word);
    if (tokens.size() > begun)
      for (const std::int64_t word : {start, translate, transcribe}) forbid_word(word);
    const bool last = timed && is_time(tokens.back());
    const bool before_last = tokens.size() <= begun || is_time(tokens[tokens.size() - 2]);
    if (last && before_last) forbid(first_time, std::int64_t(scores.size()));
    if (last && !before_last) forbid(0, end);
    if (timed) {
      const std::int64_t latest = *std::find_if(tokens.rbegin(), tokens.rend(), is_time);
      forbid(first_time, last && !before_last ? latest : latest + 1);
    }
    if (tokens.size() == begun) forbid(first_time + latest_first + 1, std::int64_t(scores.size()));
    if (first_time > 0 && of_times(scores) > *std::max_element(scores.begin(), scores.begin() + first_time))
      forbid(0, first_time);
  }

 private:
  /// Returns the logarithm of the sum of exp(score) over all timestamps.
  float of_times(std::span<const float> scores) const {
    const auto times = scores.subspan(std::size_t(first_time));
    const float most = *std::max_element(times.begin(), times.end());
    float sum = 0;
    for (const float s : times)
      if (s > lowest) sum += std::exp(s - most);
    return sum > 0 ? std::log(sum) + most : lowest;
  }
};

}  // namespace CAMEO_NAMESPACE::eps
