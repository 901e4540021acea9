#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/training.hpp>

namespace CAMEO_NAMESPACE::eps {

/// One step of ai.onnx.preview.training's Adagrad, Adam or Momentum for any number of tensors. The inputs are the
/// learning rate, the count of updates, all tensors, all their gradients, and all tensors of each kind of state; the
/// outputs are the tensors and states. Computes in the type of the tensors; an output may be the buffer of the input
/// that it replaces.
struct optimizer {
  using elements = detail::element_set<float, double>;
  enum class method : std::uint8_t { adagrad, adam, momentum, nesterov } how = method::adagrad;
  std::size_t kept = 1;  // the number of state tensors for each tensor
  double norm = 0, norm_post = 0, decay = 0, epsilon = 0, alpha = 0, beta = 0;

  status run(run_context&) const;
};

template <class Op>
struct optimizer_of : optimizer {
  static result<optimizer_of> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
