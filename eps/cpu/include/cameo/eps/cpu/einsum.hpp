#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Einsum with any equation of letters and ellipses. Two float tensors are multiplied by a matrix product if the
/// letters that both have, and those that only one has, allow it (scratch: a copy of each tensor). Everything else is
/// summed directly: for each output element, over the letters that the output lacks; integers wrap around. Letters of
/// size 1 broadcast as in numpy.
struct einsum {
  using elements = number_elements;
  static constexpr std::uint8_t ellipsis = 255;
  static constexpr std::size_t max_inputs = 32, letters = 52;

  /// The letters of an operand in order: A-Z are 0 to 25, a-z are 26 to 51; `ellipsis` occurs at most once.
  struct term {
    std::uint8_t size;
    std::uint8_t labels[max_rank + 1];
  };
  std::span<const term> inputs;
  term output = {};

  static result<einsum> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
