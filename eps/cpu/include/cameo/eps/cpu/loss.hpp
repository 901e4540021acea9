#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/choices.hpp>

#include <optional>

namespace CAMEO_NAMESPACE::eps {

/// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss of scores [N, C, ...] and labels [N, ...], with an optional
/// weight for each class. With `softmax` the loss is computed from log(softmax(scores)), which is also the second
/// output. Labels equal to ignore_index are ignored; all others must be classes. The mean of no labels is NaN. Sums are
/// double.
struct loss {
  using elements = float_elements;
  using reduction = op::negative_log_likelihood_loss_reduction_choice;
  reduction reduce = reduction::mean;
  bool softmax = false;
  std::optional<std::int64_t> ignored;

  static result<loss> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
