#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Any equation of letters and ellipses. Letters that two float tensors share and letters that only one has make a
/// matrix product (scratch: a copy of each); everything else is summed up directly: for each output, over the letters
/// that it lacks, integers modulo their range. Letters of size 1 broadcast, as numpy's do.
struct einsum {
  using elements = number_elements;
  static constexpr std::uint8_t ellipsis = 255;
  static constexpr std::size_t max_inputs = 32, letters = 52;

  /// Letters of an operand in order, A-Z as 0 to 25, a-z as 26 to 51; `ellipsis` at most once.
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
