#pragma once
#include <cameo/eps/cpu/binary.hpp>
#include <cameo/kernel/broadcast.hpp>
#include <cameo/kernel/run_context.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The loop over floats, for kernels that apply an operator to what they made.
template <class F>
void zip_floats(const float* x, std::int64_t x_step, const float* y, std::int64_t y_step, float* z, std::int64_t n);

/// Elements of a type, each of so many bytes.
struct zipped_elements {
  const void* data;
  std::int64_t bytes;
};
/// Runs a loop over all elements of an output, whose operands `loops` are first made for. Inline, since its calls would
/// take a tenth of the time that few elements do.
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
