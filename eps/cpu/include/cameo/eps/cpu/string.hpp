#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/choices.hpp>

namespace CAMEO_NAMESPACE::eps {

// Operators on strings. Strings are UTF-8; bytes that are not UTF-8 pass unchanged. Results do not depend on the
// process's locale.

/// StringConcat: z = x + y, with broadcasting.
struct string_concat {
  using elements = string_elements;
  static result<string_concat> bind(bind_context&) { return string_concat{}; }
  status run(run_context& c) const;
};

/// StringSplit: the substrings between delimiters along a new last axis, filled up with empty strings, and the number
/// of substrings of each string. Without a delimiter, strings are split at runs of ASCII white space, which is ignored
/// at both ends. After `maxsplit` splits the rest of the string is not split.
struct string_split {
  using elements = string_elements;
  std::string_view delimiter;
  std::int64_t limit;  // the largest number of splits; negative: no limit
  static result<string_split> bind(bind_context& c);
  status run(run_context& c) const;
};

/// StringNormalizer of [C] or [1, C]: removes stop words, then changes case by Unicode's simple mappings of Latin,
/// Greek, Cyrillic and Armenian letters. If no word is left, the output is one empty string.
struct string_normalizer {
  using change = op::case_change_action_choice;
  change action;
  bool exact;                                   // stop words are compared case-sensitively
  std::span<const std::string_view> stopwords;  // in lower case unless `exact`
  static result<string_normalizer> bind(bind_context& c);
  status run(run_context& c) const;

 private:
  bool is_stopword(std::string_view word) const;
};

}  // namespace CAMEO_NAMESPACE::eps
