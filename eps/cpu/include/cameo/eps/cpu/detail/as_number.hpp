#pragma once
#include <cameo/eps/cpu/detail/activation.hpp>
#include <cameo/eps/cpu/detail/narrow_rows.hpp>
#include <cameo/kernel/run_context.hpp>

namespace CAMEO_NAMESPACE::eps {

// For kernels that compute in float and store float16 or bfloat16.

/// Returns the memory to compute an output in: the output itself, or scratch that store_numbers() rounds into it.
template <class Number, class T>
result<Number*> buffer_for_numbers(run_context& c, const tensor_view<T>& output) {
  if constexpr (std::is_same_v<Number, T>) {
    return output.data();
  } else {
    result<std::span<Number>> buffer = c.scratch<Number>(output.size());
    if (!buffer) return buffer.error();
    return buffer->data();
  }
}
/// The last step before sums are rounded: f(sum + beta * addend), with one float16 or bfloat16 addend per sum.
struct narrow_epilogue {
  narrow_elements elements = {};  // the addends; none: sums are complete
  float beta = 1;
  activation f = {};

  void add_to(float* sums, std::int64_t first, std::int64_t count) const {
    if (!elements) return;
    add_row(elements + first, beta, sums, count);
    apply_activation(f, sums, count);
  }
};
template <class Number, class T>
void store_numbers(run_context& c, Number* from, const tensor_view<T>& output, const narrow_epilogue& epilogue = {}) {
  if constexpr (!std::is_same_v<Number, T>)
    parallel_elements(c, output.count(), 1 << 16, [&](std::int64_t first, std::int64_t last) {
      constexpr std::int64_t some = 1 << 12;  // elements that stay in the L1 cache
      for (std::int64_t n; first < last; first += n) {
        n = std::min(some, last - first);
        epilogue.add_to(from + first, first, n);
        narrow_row(from + first, output.data() + first, n);
      }
    });
}

}  // namespace CAMEO_NAMESPACE::eps
