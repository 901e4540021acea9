#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// y = x, and a mask that drops nothing; y is then x. Only where opset 12 asks for training by an input that is true:
/// y[i] = mask[i] ? x[i] / (1 - ratio) : 0, where mask[i] is false with probability `ratio`. Equal seeds give equal
/// masks; without `seed`, every run makes another. (The meaning of is_test = 0 in older opsets was never agreed; they
/// drop nothing.)
struct dropout {
  using elements = any_float_elements;
  bool may_train = false, has_seed = false;
  std::int64_t seed = 0;
  bool mask_of_numbers = false;  // before opset 10: of the type of x

  static result<dropout> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
