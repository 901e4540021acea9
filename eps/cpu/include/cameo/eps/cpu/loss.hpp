#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss (`softmax`: the scores become log(softmax) first, which is
/// also the second output): scores [N, C, ...], labels [N, ...], a weight for each class or none. Labels equal to
/// ignore_index are ignored; all others must be classes. The mean of no labels is NaN. Sums in double.
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
