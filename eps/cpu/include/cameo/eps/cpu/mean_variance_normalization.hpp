#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/eps/cpu/reduce.hpp>

namespace CAMEO_NAMESPACE::eps {

/// MeanVarianceNormalization: y = (x - mean) / (standard deviation + 1e-9), with the statistics over `axes` (default 0,
/// 2, 3). y may be the buffer of x. Before opset 9, attributes define whether axis 1 is included and whether y is
/// divided by the standard deviation.
struct mean_variance_normalization {
  using elements = float_elements;
  reduce_axes axes;
  bool divides = true;

  static result<mean_variance_normalization> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
