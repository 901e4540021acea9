#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

/// RandomNormal, RandomUniform, RandomNormalLike, RandomUniformLike, Bernoulli and Multinomial. Number i of a run
/// depends on the seed and i alone: equal seeds give equal numbers, with any number of threads. Without `seed`, every
/// run of the process gives other numbers. (The numbers are not numpy's.) The input of Multinomial contains logarithms
/// of weights, whose sum need not be 1.
template <class Op>
struct random {
  using elements = std::conditional_t<std::is_same_v<Op, op::Bernoulli>, number_and_truth_elements, float_elements>;
  static constexpr bool is_normal = std::is_same_v<Op, op::RandomNormal> || std::is_same_v<Op, op::RandomNormalLike>;
  static constexpr bool has_shape = std::is_same_v<Op, op::RandomNormal> || std::is_same_v<Op, op::RandomUniform>;

  bool has_seed = false;
  float seed = 0, first = 0, second = 0;  // mean and scale, or low and high
  extents shape = {};                     // if an attribute contains it
  std::int64_t samples = 1;               // Multinomial's sample_size

  static result<random> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
