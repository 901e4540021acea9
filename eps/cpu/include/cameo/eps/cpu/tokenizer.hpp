#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

#include <memory>
#include <vector>

namespace re2 {
class RE2;
}

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's Tokenizer: the tokens of each text of X [C] or [N, C] along a new last axis, filled up with
/// pad_value. Tokens are what lies between matches of separators, which part texts one after the other; or matches of
/// tokenexp, the longest at each place; or characters, where the separator is "" or tokenexp ".". Shorter ones than
/// mincharnum characters don't count. With `mark`, tokens stand between the characters 2 and 3. Patterns are in RE2's
/// syntax. Defined in builds with RE2 alone.
struct tokenizer {
  using elements = string_elements;
  struct drop {
    void operator()(re2::RE2*) const;
  };
  using pattern = std::unique_ptr<re2::RE2, drop>;
  std::vector<pattern> separators;
  pattern token;  // null where separators are given; without either, characters
  std::string_view pad;
  std::int64_t least = 1;
  bool mark = false;

  static result<tokenizer> bind(bind_context& c);
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
