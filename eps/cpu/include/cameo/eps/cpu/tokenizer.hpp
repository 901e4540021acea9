#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

#include <memory>
#include <vector>

namespace re2 {
class RE2;
}

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's Tokenizer: the tokens of each string of X [C] or [N, C] along a new last axis, filled up with
/// pad_value. Tokens are the substrings between matches of the separators, which are applied one after the other; or
/// the matches of tokenexp, at each position the longest; or characters, if the separator is "" or tokenexp is ".".
/// Tokens shorter than mincharnum characters are dropped. With `mark`, the tokens of a string are enclosed in the
/// characters 2 and 3. Patterns have RE2's syntax. Defined only in builds with RE2.
struct tokenizer {
  using elements = string_elements;
  struct drop {
    void operator()(re2::RE2*) const;
  };
  using pattern = std::unique_ptr<re2::RE2, drop>;
  std::vector<pattern> separators;
  pattern token;  // null if separators are given; without either, tokens are characters
  std::string_view pad;
  std::int64_t least = 1;
  bool mark = false;

  static result<tokenizer> bind(bind_context& c);
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
