#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss of scores [N, C, ...] and labels [N, ...], with an optional
/// weight for each class. With `softmax` the loss is computed from log(softmax(scores)), which is also the second
/// output. Labels equal to ignore_index are ignored; all others must be classes. The mean of no labels is NaN. Sums are
/// double.
struct loss {
  using elements = float_elements;
  enum class reduction : std::uint8_t { none, sum, mean } reduce = reduction::mean;
  bool softmax = false, ignores = false;
  std::int64_t ignored = 0;

  static result<loss> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
