#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

#include <memory>

namespace re2 {
class RE2;
}

namespace CAMEO_NAMESPACE::eps {

/// RegexFullMatch: true if all of a string matches a pattern in RE2's syntax. Defined only in builds with RE2.
struct regex_full_match {
  using elements = string_elements;
  struct drop {
    void operator()(re2::RE2*) const;
  };
  std::unique_ptr<re2::RE2, drop> pattern;
  static result<regex_full_match> bind(bind_context& c);
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
