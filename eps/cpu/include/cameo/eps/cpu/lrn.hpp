#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// LRN, local response normalization across channels (axis 1): y = x / (bias + alpha / size * sum of x^2 over the
/// `size` surrounding channels)^beta. If the size is even, there is one more channel after x than before it.
struct lrn {
  using elements = float_elements;
  float alpha = 0, beta = 0, bias = 0;
  std::int64_t size = 1;

  static result<lrn> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
