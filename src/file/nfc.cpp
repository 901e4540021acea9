#include "nfc.hpp"

#include "nfc_tables.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace cameo::inline CAMEO_ABI {
namespace {

// Hangul: a syllable is a leading consonant, a vowel and perhaps a trailing consonant, counted through.
constexpr char32_t syllables = 0xAC00, leads = 0x1100, vowels = 0x1161, trails = 0x11A7;
constexpr char32_t lead_count = 19, vowel_count = 21, trail_count = 28, syllable_count = 11172;

bool is_in(char32_t c, char32_t first, char32_t count) { return c >= first && c - first < count; }

/// The row that has the character, or null.
template <class Row, std::size_t N>
const Row* row_of(const Row (&rows)[N], char32_t c) {
  const Row* const at = std::lower_bound(rows, rows + N, c, [](const Row& row, char32_t v) { return row.last < v; });
  return at != rows + N && at->first <= c ? at : nullptr;
}

unsigned class_of(char32_t c) {
  const nfc_class* const found = c < 0x0300 ? nullptr : row_of(nfc_classes, c);
  return found ? found->number : 0;
}

/// The character that stands for both, or 0.
char32_t together(char32_t first, char32_t second) {
  if (is_in(first, leads, lead_count) && is_in(second, vowels, vowel_count))
    return syllables + ((first - leads) * vowel_count + (second - vowels)) * trail_count;
  if (is_in(first, syllables, syllable_count) && (first - syllables) % trail_count == 0 &&
      is_in(second, trails + 1, trail_count - 1))
    return first + (second - trails);
  const auto* const end = std::end(nfc_by_parts);
  const auto* const at =
      std::lower_bound(std::begin(nfc_by_parts), end, std::pair{second, first}, [](unsigned i, const auto& parts) {
        return std::pair{nfc_pairs[i].second, nfc_pairs[i].first} < parts;
      });
  return at != end && nfc_pairs[*at].second == second && nfc_pairs[*at].first == first ? nfc_pairs[*at].made : 0;
}

void take_apart(char32_t c, std::u32string& to) {
  if (is_in(c, syllables, syllable_count)) {
    const char32_t number = c - syllables, trail = number % trail_count;
    to += leads + number / (vowel_count * trail_count);
    to += vowels + number / trail_count % vowel_count;
    if (trail) to += trails + trail;
    return;
  }
  const auto* const found = std::lower_bound(std::begin(nfc_pairs), std::end(nfc_pairs), c,
                                             [](const nfc_pair& p, char32_t v) { return p.made < v; });
  if (found == std::end(nfc_pairs) || found->made != c) return void(to += c);
  take_apart(found->first, to);
  take_apart(found->second, to);
}

/// Accents by their class; what has none stays, and so do equals.
void put_in_order(std::u32string& text) {
  for (auto at = text.begin(); at != text.end();) {
    const auto end = std::find_if(at, text.end(), [](char32_t c) { return class_of(c) == 0; });
    std::stable_sort(at, end, [](char32_t a, char32_t b) { return class_of(a) < class_of(b); });
    at = end == text.end() ? end : end + 1;
  }
}

/// Letters take the accents that follow, unless an accent of the same class, or a letter, is in between.
std::u32string put_together(std::u32string_view text) {
  std::u32string made;
  std::size_t letter = made.npos;
  unsigned before = 0;  // class of the last character that stayed behind the letter
  for (const char32_t c : text) {
    const unsigned number = class_of(c);
    const bool is_next = letter != made.npos && (letter + 1 == made.size() || (before != 0 && before < number));
    if (const char32_t both = is_next ? together(made[letter], c) : 0) {
      made[letter] = both;
      continue;
    }
    if (number == 0) letter = made.size();
    before = number;
    made += c;
  }
  return made;
}

}  // namespace

bool is_nfc(std::u32string_view text) {
  std::u32string apart;
  for (const char32_t c : text) {
    if (row_of(nfc_never, c)) return false;
    take_apart(c, apart);
  }
  put_in_order(apart);
  return put_together(apart) == text;
}

}  // namespace cameo::inline CAMEO_ABI
