// Products with few rows, compiled once per instruction set.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include <cameo/eps/cpu/detail/gemm_block.hpp>

#include "gemm_pack_kernels.hpp"
#include "gemm_row_kernels.hpp"

#include "functions/narrow_vectors-inl.hpp"
#include "functions/sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using row_tag = hn::ScalableTag<T>;
template <class T>
using row_vec = hn::Vec<row_tag<T>>;

/// The distance in bytes at which a matrix that is read once is prefetched.
inline constexpr std::int64_t ahead_bytes = 2048;

/// The dot products of `Rows` rows and x, which share each vector of x that is loaded. `Ahead`: the rows are
/// prefetched.
template <class T, int Rows, bool Ahead>
HWY_INLINE void dot_lines_of(const row_dots<T>& p, std::int64_t row) {
  lane_sums::sums<T> sums[Rows];
  const T* const rows = p.rows.data + row * p.row_stride;
  lane_sums::each_vector<T>(p.n, [&](std::int64_t k, std::int64_t count, int v) HWY_ATTR {
    const row_vec<T> factor = lane_sums::load_up_to(p.x + k, count);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      const T* const from = rows + i * p.row_stride + k;
      if constexpr (Ahead) __builtin_prefetch(reinterpret_cast<const char*>(from) + ahead_bytes, 0, 3);
      sums[i].sum[v] = hn::MulAdd(lane_sums::load_up_to(from, count), factor, sums[i].sum[v]);
    }
  });
  for (int i = 0; i < Rows; ++i) p.y[row + i] = sums[i].total();
}

/// The number of rows whose sums fit in registers.
template <class T>
inline constexpr int rows_at_a_time = std::max(1, CAMEO_SIMD_REGISTERS / 4 / lane_sums::vectors<T>);

template <class T, bool Ahead>
void dot_lines(const row_dots<T>& p) {
  constexpr int some = rows_at_a_time<T>;
  std::int64_t i = 0;
  for (; i + some <= p.count; i += some) dot_lines_of<T, some, Ahead>(p, i);
  for (; i < p.count; ++i) dot_lines_of<T, 1, Ahead>(p, i);
}
/// The dot products of `Rows` rows of float16 or bfloat16, which are widened block by block.
template <int Rows>
void dot_narrow(const row_dots<float, any_float>& p, std::int64_t row) {
  constexpr std::int64_t most = narrow_block;  // a multiple of lane_sums::sums_at_a_time
  lane_sums::sums<float> sums[Rows];
  float wide[Rows * most];
  for (std::int64_t i = 0; i < p.n; i += most) {
    const std::int64_t m = std::min(most, p.n - i);
    for (int r = 0; r < Rows; ++r) (p.rows + ((row + r) * p.row_stride + i)).read(wide + r * most, m);
    lane_sums::each_vector<float>(m, [&](std::int64_t k, std::int64_t count, int v) HWY_ATTR {
      const row_vec<float> factor = lane_sums::load_up_to(p.x + i + k, count);
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r)
        sums[r].sum[v] = hn::MulAdd(lane_sums::load_up_to(wide + r * most + k, count), factor, sums[r].sum[v]);
    });
  }
  for (int r = 0; r < Rows; ++r) p.y[row + r] = sums[r].total();
}

template <class T>
void dot_all(const row_dots<T>& p) {
  if (p.count * p.n * std::int64_t(sizeof(T)) < gemm_cached_bytes) dot_lines<T, false>(p);
  else dot_lines<T, true>(p);
}
void dot_all(const row_dots<float, any_float>& p) {
  if (!p.rows.narrow) return dot_all<float>({{p.rows.data}, p.row_stride, p.count, p.x, p.n, p.y});
  constexpr int some = rows_at_a_time<float>;
  std::int64_t i = 0;
  for (; i + some <= p.count; i += some) dot_narrow<some>(p, i);
  for (; i < p.count; ++i) dot_narrow<1>(p, i);
}

/// Adds `Steps` rows of B, scaled by `Rows` rows of A; several at a time, so that y is read and written less often.
/// `Ahead`: the elements `next` further are prefetched. Each sum is one chain of additions, as in a tile of gemm_block.
template <int Rows, int Steps, bool Ahead, class T, class B>
HWY_INLINE void add_some(const row_sums<T, B>& p, std::int64_t row, std::int64_t k, std::int64_t next) {
  const row_tag<T> d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  const bool starts = p.starts && k == 0;
  const B* HWY_RESTRICT b = p.b + k * p.b_stride;
  T factors[Rows][Steps];
  row_vec<T> wide[Rows][Steps];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 8
    for (int s = 0; s < Steps; ++s) {
      factors[i][s] = p.a[(row + i) * p.a_row + (k + s) * p.a_step];
      wide[i][s] = hn::Set(d, factors[i][s]);
    }
  T* HWY_RESTRICT y = p.y + row * p.y_stride;
  std::int64_t j = 0;
  for (; j + lanes <= p.n; j += lanes) {
    row_vec<T> lines[Steps];
#pragma GCC unroll 8
    for (int s = 0; s < Steps; ++s) {
      lines[s] = narrow_vectors::load(d, b + s * p.b_stride + j);
      if constexpr (Ahead) __builtin_prefetch(b + s * p.b_stride + j + next, 0, 2);
    }
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      row_vec<T> sum = starts ? hn::Zero(d) : hn::LoadU(d, y + i * p.y_stride + j);
#pragma GCC unroll 8
      for (int s = 0; s < Steps; ++s) sum = hn::MulAdd(wide[i][s], lines[s], sum);
      hn::StoreU(sum, d, y + i * p.y_stride + j);
    }
  }
  for (; j < p.n; ++j)
    for (int i = 0; i < Rows; ++i) {
      T sum = starts ? T(0) : y[i * p.y_stride + j];
      for (int s = 0; s < Steps; ++s)
        sum = lane_sums::multiply_add(factors[i][s], narrow_rows::widened(b[s * p.b_stride + j]), sum);
      y[i * p.y_stride + j] = sum;
    }
}

template <int Rows, class T, class B>
HWY_INLINE void add_steps(const row_sums<T, B>& p, std::int64_t row, std::int64_t k, std::int64_t end, bool ahead,
                          std::int64_t next) {
  for (; k + 4 <= end; k += 4)
    ahead ? add_some<Rows, 4, true>(p, row, k, next) : add_some<Rows, 4, false>(p, row, k, next);
  for (; k < end; ++k) add_some<Rows, 1, false>(p, row, k, next);
}

template <class T, class B>
void add_all(const row_sums<T, B>& p) {
  constexpr std::int64_t depth = 8;  // rows of B that stay in the L1 cache for all rows of A
  const bool ahead = p.k * p.b_stride * std::int64_t(sizeof(B)) >= gemm_cached_bytes;
  for (std::int64_t k = 0; k < p.k; k += depth) {
    const std::int64_t end = std::min(p.k, k + depth), next = depth * p.b_stride;
    for (std::int64_t i = 0; i < p.m; i += 2)
      if (i + 2 > p.m) add_steps<1>(p, i, k, end, ahead && i == 0, next);
      else add_steps<2>(p, i, k, end, ahead && i == 0, next);
  }
}

/// Adds `count` steps of k of transposed columns of B, two vectors of them, times `Rows` rows of A.
template <int Rows, class T, class B>
HWY_INLINE void add_columns(const transposed_sums<T, B>& p, std::int64_t row, const B* HWY_RESTRICT b,
                            std::int64_t first, std::int64_t count) {
  const row_tag<T> d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  row_vec<T> sums[Rows][2];
  T* const y = p.y + row * p.y_stride;
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j)
      sums[i][j] = p.starts && first == 0 ? hn::Zero(d) : hn::LoadU(d, y + i * p.y_stride + j * lanes);
  for (std::int64_t k = first; k < first + count; ++k, b += 2 * lanes) {
    const row_vec<T> left = narrow_vectors::load(d, b), right = narrow_vectors::load(d, b + lanes);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      const row_vec<T> factor = hn::Set(d, p.a[(row + i) * p.a_row + k * p.a_step]);
      sums[i][0] = hn::MulAdd(factor, left, sums[i][0]);
      sums[i][1] = hn::MulAdd(factor, right, sums[i][1]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) hn::StoreU(sums[i][j], d, y + i * p.y_stride + j * lanes);
}

template <class T, class B>
void add_all(const transposed_sums<T, B>& p) {
  constexpr std::int64_t some = sizeof(B) == 2 ? 64 : 32;  // steps of k whose transposed part stays in the L1 cache
  constexpr std::int64_t most = 2 * HWY_MAX_BYTES / std::int64_t(sizeof(T));
  const std::int64_t width = 2 * std::int64_t(hn::Lanes(row_tag<T>()));
  alignas(64) B turned[some * most];
  if (p.n < width) std::fill_n(turned, some * most, B{});
  for (std::int64_t k = 0; k < p.k; k += some) {
    const std::int64_t count = std::min(some, p.k - k);
    pack_transposed(
        transposed_panel<B>{p.b + k, p.b_stride, p.n, count, turned, width, p.ahead ? p.ahead + k * width : nullptr});
    std::int64_t i = 0;
    for (; i + 4 <= p.m; i += 4) add_columns<4>(p, i, turned, k, count);
    for (; i < p.m; ++i) add_columns<1>(p, i, turned, k, count);
  }
}

// CAMEO_SIMD_BEST needs functions with one template parameter.
template <class Dots>
void dot(const Dots& p) {
  dot_all(p);
}
template <class Sums>
void add(const Sums& p) {
  add_all(p);
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace CAMEO_NAMESPACE::eps {

template <class T, class From>
void dot_with_rows(const row_dots<T, From>& p) {
  using dots = row_dots<T, From>;
  CAMEO_SIMD_BEST(dot<dots>)(p);
}
template <class T, class B>
void add_scaled_rows(const row_sums<T, B>& p) {
  using sums = row_sums<T, B>;
  CAMEO_SIMD_BEST(add<sums>)(p);
}
template <class T, class B>
void add_transposed_columns(const transposed_sums<T, B>& p) {
  using sums = transposed_sums<T, B>;
  CAMEO_SIMD_BEST(add<sums>)(p);
}

template void dot_with_rows(const row_dots<float>&);
template void dot_with_rows(const row_dots<float, any_float>&);
template void dot_with_rows(const row_dots<double>&);
template void add_scaled_rows(const row_sums<float>&);
template void add_scaled_rows(const row_sums<double>&);
template void add_scaled_rows(const row_sums<float, float16>&);
template void add_scaled_rows(const row_sums<float, bfloat16>&);
template void add_transposed_columns(const transposed_sums<float>&);
template void add_transposed_columns(const transposed_sums<double>&);
template void add_transposed_columns(const transposed_sums<float, float16>&);
template void add_transposed_columns(const transposed_sums<float, bfloat16>&);

}  // namespace CAMEO_NAMESPACE::eps
#endif
