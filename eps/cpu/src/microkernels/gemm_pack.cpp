// Packs matrices as panels: the rows of A (or columns of B) of one tile together, step by step of k (see
// gemm_block.hpp).
#include <cameo/eps/cpu/detail/gemm_block.hpp>

#include <algorithm>

#include "gemm_pack_kernels.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The number of steps of k that are packed at a time: few enough for the written part to stay in the L1 cache, while
/// rows that are read are long.
constexpr std::int64_t packing_steps = 16;

/// Copies `rows` rows of `filled` elements, which are `stride` apart, to consecutive rows of `width`, padded with
/// zeros.
template <class From, class To>
void copy_rows(const From* from, std::int64_t stride, std::int64_t rows, std::int64_t filled, To* to,
               std::int64_t width) {
  if constexpr (!std::is_same_v<From, To>)
    if (stride == width && filled == width) return widen_row(from, to, rows * width);
  for (std::int64_t r = 0; r < rows; ++r, to += width) {
    if constexpr (std::is_same_v<From, To>) std::copy_n(from + r * stride, filled, to);
    else widen_row(from + r * stride, to, filled);
    if (filled < width) std::fill_n(to + filled, width - filled, To{});
  }
}

/// True if the rows of a panel are whole vectors. Those of B are. Those of A are not, and are packed as fast as float
/// if they are widened first.
constexpr bool has_whole_rows(std::int64_t width) { return width % 8 == 0; }

/// Packs `count` rows in which steps of k are contiguous, steps [0, k), as a panel.
template <class From, class To>
void transpose_panel(const From* from, std::int64_t stride, std::int64_t count, std::int64_t k, To* to,
                     std::int64_t width) {
  if constexpr (std::is_same_v<From, To>) {
    pack_transposed<From>({from, stride, count, k, to, width});
  } else {
    constexpr std::int64_t some = 64;
    From turned[some * gemm_widest_tile];
    To wide[some * gemm_widest_tile];
    if (count < width && has_whole_rows(width)) std::fill_n(turned, some * width, From{});
    for (std::int64_t p = 0; p < k; p += some) {
      const std::int64_t steps = std::min(some, k - p);
      if (has_whole_rows(width)) {
        pack_transposed<From>({from + p, stride, count, steps, turned, width});
        widen_row(turned, to + p * width, steps * width);
      } else {
        copy_rows(from + p, stride, count, steps, wide, steps);
        pack_transposed<To>({wide, steps, count, steps, to + p * width, width});
      }
    }
  }
}

/// Packs `count` rows that are contiguous at each step of k, steps [0, k), as panels, each of which has `all_steps`.
template <class From, class To>
void stack_panels(const From* from, std::int64_t stride, std::int64_t count, std::int64_t k, std::int64_t all_steps,
                  To* to, std::int64_t width) {
  if constexpr (!std::is_same_v<From, To>)
    if (!has_whole_rows(width)) {
      constexpr std::int64_t most = 256;
      To wide[packing_steps * most];
      const std::int64_t some = most / width * width;
      for (std::int64_t i = 0; i < count; i += some) {
        const std::int64_t n = std::min(some, count - i);
        copy_rows(from + i, stride, k, n, wide, n);
        stack_panels(wide, n, n, k, all_steps, to + i * all_steps, width);
      }
      return;
    }
  for (std::int64_t i = 0; i < count; i += width)
    copy_rows(from + i, stride, k, std::min(width, count - i), to + i * all_steps, width);
}

/// Packs `count` rows, `stride` apart, with `k` steps, `k_stride` apart, into panels of `width`. Columns of B are
/// packed like rows of A. If the run is stopped, the rest is skipped.
template <class From, class To>
void pack_panels(const From* from, std::int64_t stride, std::int64_t k_stride, std::int64_t count, std::int64_t k,
                 std::int64_t width, To* to, const run_context* run = nullptr) {
  constexpr std::int64_t chunk = packing_steps;
  detail::stop_pace pace;
  constexpr std::int64_t little = 1 << 14;  // fewer elements need no stop check
  const auto stopped = [&] { return run && count * k > little && run->stopped(pace); };
  if (stride == 1) {
    for (std::int64_t p0 = 0; p0 < k && !stopped(); p0 += chunk)
      stack_panels(from + p0 * k_stride, k_stride, count, std::min(chunk, k - p0), k, to + p0 * width, width);
    return;
  }
  for (std::int64_t i0 = 0; i0 < count; i0 += width, to += width * k) {
    const std::int64_t filled = std::min(width, count - i0);
    const From* const panel = from + i0 * stride;
    if (filled < width) std::fill_n(to, width * k, To{});
    constexpr std::int64_t some = 4096;  // steps of k between two stop checks
    for (std::int64_t p0 = 0; k_stride == 1 && p0 < k && !stopped(); p0 += some)
      transpose_panel(panel + p0, stride, filled, std::min(some, k - p0), to + p0 * width, width);
    for (std::int64_t p0 = 0; k_stride != 1 && p0 < k; p0 += chunk) {
      if (p0 % some == 0 && stopped()) return;
      const std::int64_t p1 = std::min(k, p0 + chunk);
      for (std::int64_t i = 0; i < filled; ++i)
        for (std::int64_t p = p0; p < p1; ++p) to[p * width + i] = To(panel[i * stride + p * k_stride]);
    }
  }
}

/// pack_panels() for a matrix whose elements may be float16 or bfloat16.
template <class T, class From, class To>
void pack_any(const matrix_ref<T, From>& m, std::int64_t count, std::int64_t k, std::int64_t width, To* to,
              const run_context* run = nullptr) {
  if constexpr (std::is_same_v<From, any_float>)
    if (m.narrow) return m.narrow.type->pack(m.narrow.data, m.row_stride, m.column_stride, count, k, width, to, run);
  pack_panels(m.data, m.row_stride, m.column_stride, count, k, width, to, run);
}

template <class T>
constexpr narrow_type operations_of() {
  return {[](const void* from, float* to, std::int64_t count) { widen_row(static_cast<const T*>(from), to, count); },
          [](const void* from, std::int64_t stride, std::int64_t k_stride, std::int64_t count, std::int64_t k,
             std::int64_t width, float* to, const run_context* run) {
            pack_panels(static_cast<const T*>(from), stride, k_stride, count, k, width, to, run);
          }};
}

[[nodiscard]] bool packed_size(std::int64_t count, std::int64_t k, std::int64_t width, std::size_t& size) {
  std::int64_t padded = 0;
  if (count < 0 || k < 0 || !checked_add(count, width - 1, padded)) return false;
  padded = padded / width * width;
  if (!checked_multiply(padded, k, padded)) return false;
  size = std::size_t(padded);
  return true;
}

}  // namespace

const narrow_type narrow_float16 = operations_of<float16>(), narrow_bfloat16 = operations_of<bfloat16>();

template <class T>
bool packed_a_size(std::int64_t m, std::int64_t k, std::size_t& size) {
  return packed_size(m, k, tile_of<T>().rows, size);
}
template <class T>
bool packed_b_size(std::int64_t k, std::int64_t n, std::size_t& size) {
  return packed_size(n, k, tile_of<T>().columns, size);
}
template <class T, class From>
void pack_a(const matrix_ref<T, From>& a, std::int64_t m, std::int64_t k, T* packed) {
  pack_any(a, m, k, tile_of<T>().rows, packed);
}
template <class T, class From, class To>
void pack_b(const matrix_ref<T, From>& b, std::int64_t k, std::int64_t n, To* packed, const run_context* run) {
  pack_any(matrix_ref<T, From>{b.elements(), b.column_stride, b.row_stride}, n, k, tile_of<gemm_number<To>>().columns,
           packed, run);
}

template bool packed_a_size<float>(std::int64_t, std::int64_t, std::size_t&);
template bool packed_a_size<double>(std::int64_t, std::int64_t, std::size_t&);
template bool packed_b_size<float>(std::int64_t, std::int64_t, std::size_t&);
template bool packed_b_size<double>(std::int64_t, std::int64_t, std::size_t&);
template void pack_a(const matrix_ref<float>&, std::int64_t, std::int64_t, float*);
template void pack_a(const matrix_ref<double>&, std::int64_t, std::int64_t, double*);
template void pack_a(const matrix_ref<float, any_float>&, std::int64_t, std::int64_t, float*);
template void pack_b(const matrix_ref<float>&, std::int64_t, std::int64_t, float*, const run_context*);
template void pack_b(const matrix_ref<double>&, std::int64_t, std::int64_t, double*, const run_context*);
template void pack_b(const matrix_ref<float, any_float>&, std::int64_t, std::int64_t, float*, const run_context*);
template void pack_b(const matrix_ref<float16>&, std::int64_t, std::int64_t, float16*, const run_context*);
template void pack_b(const matrix_ref<bfloat16>&, std::int64_t, std::int64_t, bfloat16*, const run_context*);
template void pack_b(const matrix_ref<float16>&, std::int64_t, std::int64_t, float*, const run_context*);
template void pack_b(const matrix_ref<bfloat16>&, std::int64_t, std::int64_t, float*, const run_context*);

}  // namespace CAMEO_NAMESPACE::eps
