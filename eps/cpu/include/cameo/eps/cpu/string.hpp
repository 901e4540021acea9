#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

// Strings are UTF-8; bytes that are not pass unchanged. Results do not depend on the process's locale.

/// z = x + y, broadcast.
struct string_concat {
  using elements = string_elements;
  static result<string_concat> bind(bind_context&) { return string_concat{}; }
  status run(run_context& c) const;
};

/// Pieces between delimiters along a new last axis, filled up with empty strings; and each string's number of pieces.
/// Without a delimiter: between runs of ASCII white space, ends not counted. After `maxsplit` splits the rest is left.
struct string_split {
  using elements = string_elements;
  std::string_view delimiter;
  std::int64_t limit;  // of splits; negative: none
  static result<string_split> bind(bind_context& c) {
    return string_split{c.string_or("delimiter", ""), c.int_or("maxsplit", -1)};
  }
  status run(run_context& c) const;
};

/// Drops stop words, then changes case by Unicode's simple mappings of Latin, Greek, Cyrillic and Armenian letters.
/// [C] or [1, C]; when nothing is left, one empty string.
struct string_normalizer {
  enum class change : std::uint8_t { none, lower, upper };
  change action;
  bool exact;                                   // stop words are compared with case
  std::span<const std::string_view> stopwords;  // unless exact: in lower case
  static result<string_normalizer> bind(bind_context& c);
  status run(run_context& c) const;

 private:
  bool is_stopword(std::string_view word) const;
};

}  // namespace CAMEO_NAMESPACE::eps
