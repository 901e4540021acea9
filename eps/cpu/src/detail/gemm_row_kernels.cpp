// Products with few rows, once per instruction set.
#include <detail/simd.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detail/gemm_row_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include <cameo/eps/cpu/detail/gemm.hpp>
#include <detail/gemm_row_kernels.hpp>

HWY_BEFORE_NAMESPACE();
namespace cameo::inline CAMEO_ABI::eps {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using row_tag = hn::ScalableTag<T>;
template <class T>
using row_vec = hn::Vec<row_tag<T>>;

/// How many bytes ahead a matrix that is read once is asked for.
inline constexpr std::int64_t ahead_bytes = 2048;

/// `Rows` rows times `Columns` vectors x: every vector that is loaded is used by all of the other side.
template <class T, int Rows, int Columns, bool Ahead>
HWY_INLINE void dot_tile(const row_dots<T>& p, std::int64_t row, std::int64_t column) {
  const row_tag<T> d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  constexpr int chains = Rows * Columns < 4 ? 4 / (Rows * Columns) : 1;
  row_vec<T> sums[chains][Rows][Columns];
  for (int s = 0; s < chains; ++s)
    for (int i = 0; i < Rows; ++i)
      for (int j = 0; j < Columns; ++j) sums[s][i][j] = hn::Zero(d);
  const T* const rows = p.rows + row * p.row_stride;
  const T* const x = p.x + column * p.x_stride;
  const auto step = [&](int s, std::int64_t k) HWY_ATTR {
    row_vec<T> factors[Columns];
#pragma GCC unroll 8
    for (int j = 0; j < Columns; ++j) factors[j] = hn::LoadU(d, x + j * p.x_stride + k);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      const T* const from = rows + i * p.row_stride + k;
      if constexpr (Ahead) __builtin_prefetch(reinterpret_cast<const char*>(from) + ahead_bytes, 0, 3);
      const row_vec<T> line = hn::LoadU(d, from);
#pragma GCC unroll 8
      for (int j = 0; j < Columns; ++j) sums[s][i][j] = hn::MulAdd(line, factors[j], sums[s][i][j]);
    }
  };
  std::int64_t k = 0;
  for (; k + chains * lanes <= p.n; k += chains * lanes)
#pragma GCC unroll 8
    for (int s = 0; s < chains; ++s) step(s, k + s * lanes);
  for (; k + lanes <= p.n; k += lanes) step(0, k);
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 8
    for (int j = 0; j < Columns; ++j) {
#pragma GCC unroll 8
      for (int s = 1; s < chains; ++s) sums[0][i][j] = hn::Add(sums[0][i][j], sums[s][i][j]);
      T sum = hn::GetLane(hn::SumOfLanes(d, sums[0][i][j]));
      for (std::int64_t rest = k; rest < p.n; ++rest) sum += rows[i * p.row_stride + rest] * x[j * p.x_stride + rest];
      p.y[(column + j) * p.y_stride + row + i] = sum;
    }
}

template <class T, int Rows, bool Ahead>
HWY_INLINE void dot_columns(const row_dots<T>& p, std::int64_t row) {
  std::int64_t j = 0;
  for (; j + 4 <= p.m; j += 4) dot_tile<T, Rows, 4, Ahead>(p, row, j);
  if (j + 2 <= p.m) {
    dot_tile<T, Rows, 2, Ahead>(p, row, j);
    j += 2;
  }
  if (j < p.m) dot_tile<T, Rows, 1, Ahead>(p, row, j);
}

template <class T, bool Ahead>
void dot_lines(const row_dots<T>& p) {
  constexpr int some = CAMEO_SIMD_REGISTERS == 32 ? 4 : 2;  // as registers allow
  std::int64_t i = 0;
  for (; i + some <= p.count; i += some) dot_columns<T, some, Ahead>(p, i);
  for (; i < p.count; ++i) dot_columns<T, 1, Ahead>(p, i);
}
template <class T>
void dot_rows(const row_dots<T>& p) {
  if (p.count * p.n * std::int64_t(sizeof(T)) < gemm_cached_bytes) dot_lines<T, false>(p);
  else dot_lines<T, true>(p);
}

/// Four rows of B at a time, so that y is touched rarely, times `Rows` rows of A.
template <class T, int Rows, bool First>
HWY_INLINE void add_four(const row_sums<T>& p, std::int64_t row, std::int64_t k, std::int64_t next) {
  const row_tag<T> d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  const T* HWY_RESTRICT b = p.b + k * p.b_stride;
  T factors[Rows][4];
  row_vec<T> wide[Rows][4];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 8
    for (int s = 0; s < 4; ++s) {
      factors[i][s] = p.a[(row + i) * p.a_row + (k + s) * p.a_step];
      wide[i][s] = hn::Set(d, factors[i][s]);
    }
  T* HWY_RESTRICT y = p.y + row * p.y_stride;
  std::int64_t j = 0;
  for (; j + lanes <= p.n; j += lanes) {
    row_vec<T> lines[4];
#pragma GCC unroll 8
    for (int s = 0; s < 4; ++s) {
      lines[s] = hn::LoadU(d, b + s * p.b_stride + j);
      if constexpr (First) __builtin_prefetch(b + s * p.b_stride + j + next, 0, 2);
    }
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      row_vec<T> v = hn::Mul(wide[i][0], lines[0]), w = hn::Mul(wide[i][1], lines[1]);
      v = hn::MulAdd(wide[i][2], lines[2], v);
      w = hn::MulAdd(wide[i][3], lines[3], w);
      v = hn::Add(v, w);
      if (k > 0) v = hn::Add(v, hn::LoadU(d, y + i * p.y_stride + j));
      hn::StoreU(v, d, y + i * p.y_stride + j);
    }
  }
  for (; j < p.n; ++j)
    for (int i = 0; i < Rows; ++i) {
      T& sum = y[i * p.y_stride + j];
      if (k == 0) sum = T(0);
      for (int s = 0; s < 4; ++s) sum += factors[i][s] * b[s * p.b_stride + j];
    }
}

template <class T, int Rows>
HWY_INLINE void add_one(const row_sums<T>& p, std::int64_t row, std::int64_t k) {
  const row_tag<T> d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  const T* HWY_RESTRICT b = p.b + k * p.b_stride;
  for (int i = 0; i < Rows; ++i) {
    const T factor = p.a[(row + i) * p.a_row + k * p.a_step];
    T* HWY_RESTRICT y = p.y + (row + i) * p.y_stride;
    std::int64_t j = 0;
    for (; j + lanes <= p.n; j += lanes) {
      const row_vec<T> sum = k > 0 ? hn::LoadU(d, y + j) : hn::Zero(d);
      hn::StoreU(hn::MulAdd(hn::Set(d, factor), hn::LoadU(d, b + j), sum), d, y + j);
    }
    for (; j < p.n; ++j) y[j] = (k > 0 ? y[j] : T(0)) + factor * b[j];
  }
}

template <class T>
void add_rows(const row_sums<T>& p) {
  constexpr std::int64_t depth = 8;  // rows of B that stay in the first cache for all rows of A
  const bool ahead = p.k * p.b_stride * std::int64_t(sizeof(T)) >= gemm_cached_bytes;
  for (std::int64_t k0 = p.first; k0 < p.k; k0 += depth) {
    const std::int64_t k1 = std::min(p.k, k0 + depth), next = depth * p.b_stride;
    for (std::int64_t i = 0; i < p.m; i += 2) {
      std::int64_t k = k0;
      const bool asks = ahead && i == 0;
      for (; k + 4 <= k1; k += 4)
        if (i + 2 > p.m) asks ? add_four<T, 1, true>(p, i, k, next) : add_four<T, 1, false>(p, i, k, next);
        else asks ? add_four<T, 2, true>(p, i, k, next) : add_four<T, 2, false>(p, i, k, next);
      for (; k < k1; ++k)
        if (i + 2 > p.m) add_one<T, 1>(p, i, k);
        else add_one<T, 2>(p, i, k);
    }
  }
}

void dot_rows_f32(const row_dots<float>& p) { dot_rows(p); }
void dot_rows_f64(const row_dots<double>& p) { dot_rows(p); }
void add_rows_f32(const row_sums<float>& p) { add_rows(p); }
void add_rows_f64(const row_sums<double>& p) { add_rows(p); }

}  // namespace HWY_NAMESPACE
}  // namespace cameo::inline CAMEO_ABI::eps
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cameo::inline CAMEO_ABI::eps {

HWY_EXPORT(dot_rows_f32);
HWY_EXPORT(dot_rows_f64);
HWY_EXPORT(add_rows_f32);
HWY_EXPORT(add_rows_f64);

void dot_with_rows(const row_dots<float>& p) { HWY_DYNAMIC_DISPATCH(dot_rows_f32)(p); }
void dot_with_rows(const row_dots<double>& p) { HWY_DYNAMIC_DISPATCH(dot_rows_f64)(p); }
void add_scaled_rows(const row_sums<float>& p) { HWY_DYNAMIC_DISPATCH(add_rows_f32)(p); }
void add_scaled_rows(const row_sums<double>& p) { HWY_DYNAMIC_DISPATCH(add_rows_f64)(p); }

}  // namespace cameo::inline CAMEO_ABI::eps
#endif
