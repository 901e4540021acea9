#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// out[i] = condition[i] ? x[i] : y[i], with broadcasting. Works by element size: any type that takes whole bytes. out
/// may be x or y. Allocates nothing.
struct where {
  using row_function = void (*)(const std::uint8_t* condition, std::int64_t condition_step, const void* x,
                                std::int64_t x_step, const void* y, std::int64_t y_step, void* out, std::int64_t n);
  row_function row = nullptr;
  std::int64_t bytes = 0;  // of an element

  static result<where> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
