#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// y = (x - mean) / sqrt(var + epsilon) * scale + B, per channel (axis 1), all versions. Statistics are inputs, or,
/// where the node trains, those of this batch; then the running ones are outputs, too. A node trains by training_mode
/// from opset 14 on; before, if it has more outputs than Y. `spatial` = 0 (before opset 9): every element of axis 1
/// and beyond is a channel. y may be x; coefficients of constant inputs are computed once.
struct batch_normalization {
  using elements = float_elements;
  double epsilon = 0, momentum = 0;
  bool trains = false, spatial = true;
  std::span<const double> coefficients = {};  // when constant: a scale for each channel, then a shift for each

  static result<batch_normalization> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
