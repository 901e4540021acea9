#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/eps/cpu/reduce.hpp>

namespace CAMEO_NAMESPACE::eps {

/// y = (x - mean) / (standard deviation + 1e-9), with the statistics over `axes` (default 0, 2, 3). y may be x. Until
/// opset 9 attributes say whether the axes are all four, and whether there is a division.
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
