#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Where: out[i] = condition[i] ? x[i] : y[i], with broadcasting. The loops depend on the size of an element only, so
/// any type of whole bytes is supported. out may be the buffer of x or y. Allocates nothing.
struct where {
  using row_function = void (*)(const std::uint8_t* condition, std::int64_t condition_step, const void* x,
                                std::int64_t x_step, const void* y, std::int64_t y_step, void* out, std::int64_t n);
  row_function row = nullptr;
  std::int64_t bytes = 0;  // the size of an element

  static result<where> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
