#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

#include <optional>

namespace CAMEO_NAMESPACE::eps {

/// Dropout. In inference y = x, the mask is all true, and y may be the buffer of x. Only if the input training_mode,
/// which exists since opset 12, is true: y[i] = mask[i] ? x[i] / (1 - ratio) : 0, where mask[i] is false with
/// probability `ratio`. Equal seeds give equal masks; without `seed` every run has another mask. Opsets before 12 drop
/// nothing even with is_test = 0, whose meaning was never agreed on.
struct dropout {
  using elements = any_float_elements;
  bool may_train = false;
  std::optional<std::int64_t> seed;
  bool mask_of_numbers = false;  // before opset 10 the mask has the type of x

  static result<dropout> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
