#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

/// RandomNormal, RandomUniform and their ...Like, Bernoulli and Multinomial. Number i of a run depends on the seed and
/// i alone: equal seeds give equal numbers, with any number of threads. Without `seed`, every run of the process gives
/// other numbers. (They differ from numpy's.) Multinomial's input is logarithms of weights that need not add up to 1.
template <class Op>
struct random {
  using elements = std::conditional_t<std::is_same_v<Op, op::Bernoulli>, number_and_truth_elements, float_elements>;
  static constexpr bool is_normal = std::is_same_v<Op, op::RandomNormal> || std::is_same_v<Op, op::RandomNormalLike>;
  static constexpr bool has_shape = std::is_same_v<Op, op::RandomNormal> || std::is_same_v<Op, op::RandomUniform>;

  bool has_seed = false;
  float seed = 0, first = 0, second = 0;  // mean and scale, or low and high
  extents shape = {};                     // only if an attribute gives it
  std::int64_t samples = 1;               // of Multinomial

  static result<random> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
