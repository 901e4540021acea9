#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/geometry/einsum.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Einsum with any equation of letters and ellipses. Two float tensors are multiplied by a matrix product if the
/// letters that both have, and those that only one has, allow it (scratch: a copy of each tensor). Everything else is
/// summed directly: for each output element, over the letters that the output lacks; integers wrap around. Letters of
/// size 1 broadcast as in numpy.
struct einsum {
  using elements = number_elements;
  using term = geometry::einsum_term;
  static constexpr std::size_t max_inputs = 32;

  std::span<const term> inputs;
  term output = {};

  static result<einsum> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
