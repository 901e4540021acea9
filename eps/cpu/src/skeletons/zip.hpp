#pragma once
#include <cameo/eps/cpu/binary.hpp>
#include <cameo/kernel/broadcast.hpp>
#include <cameo/kernel/run_context.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Applies operator F to floats, for kernels that need it as a part of their computation. A step is 1, or 0 for an
/// operand that is the same for all n results.
template <class F>
void zip_floats(const float* x, std::int64_t x_step, const float* y, std::int64_t y_step, float* z, std::int64_t n);

/// The elements of an operand, and the bytes of each.
struct zipped_elements {
  const void* data;
  std::int64_t bytes;
};
/// Runs the loop `row` over all elements of an output; the first two operands of `loops` are a and b. It is inlined,
/// since its calls would take a tenth of the time of a small tensor.
template <std::size_t N>
[[gnu::always_inline]] inline void run_zip(run_context& c, binary_row row, const broadcast_loops<N>& loops,
                                           std::int64_t grain, const zipped_elements& a, const zipped_elements& b,
                                           void* out, std::int64_t out_bytes) {
  const auto* const x = static_cast<const std::byte*>(a.data);
  const auto* const y = static_cast<const std::byte*>(b.data);
  auto* const z = static_cast<std::byte*>(out);
  const std::int64_t x_step = loops.steps()[0], y_step = loops.steps()[1];
  parallel_elements(c, loops.count(), grain, [&](std::int64_t first, std::int64_t last) {
    loops.rows(first, last, [&](std::int64_t to, const auto& from, std::int64_t n) {
      row(x + from[0] * a.bytes, x_step, y + from[1] * b.bytes, y_step, z + to * out_bytes, n);
    });
  });
}

}  // namespace CAMEO_NAMESPACE::eps
