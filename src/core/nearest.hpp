#pragma once
#include <cameo/core/abi.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CAMEO_NAMESPACE {

/// The edit distance: how many letters must be inserted, deleted, replaced, or swapped with the next one.
inline std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = std::exchange(last, now);
  }
  return last[b.size()];
}

/// Finds the known word that is nearest to a given word: fewer edits than the word has letters.
class nearest_word {
 public:
  explicit nearest_word(std::string_view word) : word_{word}, fewest_{word.size()} {}
  /// Accepts only words with fewer than `below` edits.
  nearest_word(std::string_view word, std::size_t below) : word_{word}, fewest_{std::min(word.size(), below)} {}
  void look_at(std::string_view known) {
    const std::size_t edits = edits_between(word_, known);
    if (edits < fewest_) fewest_ = edits, found_ = known;
  }
  /// The nearest word; empty if none was near.
  std::string_view found() const { return found_; }

 private:
  std::string_view word_, found_;
  std::size_t fewest_;
};

/// "; did you mean 'x'?" with the nearest known word, or "" if no word is near: at most half of the letters may be
/// wrong.
template <class Words>
std::string did_you_mean(std::string_view word, const Words& known) {
  nearest_word nearest{word, word.size() / 2 + 1};
  for (const auto& each : known) nearest.look_at(each);
  return nearest.found().empty() ? std::string{} : "; did you mean '" + std::string{nearest.found()} + "'?";
}

}  // namespace CAMEO_NAMESPACE
