#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// BatchNormalization, all versions: y = (x - mean) / sqrt(var + epsilon) * scale + B for each channel (axis 1). Mean
/// and variance are inputs or, if the node trains, those of this batch; then the running statistics are outputs, too. A
/// node trains if training_mode is set (from opset 14 on) or if it has more outputs than Y (before). With `spatial` = 0
/// (before opset 9) each element of axis 1 and all later axes is a channel. y may be the buffer of x. The coefficients
/// of constant inputs are computed once, at binding.
struct batch_normalization {
  using elements = float_elements;
  double epsilon = 0, momentum = 0;
  bool trains = false, spatial = true;
  std::span<const double> coefficients = {};  // of constant inputs: a factor for each channel, then a shift for each

  static result<batch_normalization> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
