// The register tile of the matrix product, once per instruction set.
#include <detail/simd.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detail/gemm_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cameo/eps/cpu/detail/gemm.hpp>
#include <detail/epilogue-inl.hpp>
#include <detail/gemm_kernels.hpp>

HWY_BEFORE_NAMESPACE();
namespace cameo::inline CAMEO_ABI::eps {
namespace HWY_NAMESPACE {
// 12 x 2 vectors of accumulators where there are 32 registers, 6 x 2 where there are 16.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
inline constexpr int tile_rows = 12;
#else
inline constexpr int tile_rows = 6;
#endif

/// One tile: where it is, and what to do with it. Whole vectors of everything it touches are readable and writable.
template <class T>
struct tile_job {
  std::int64_t k;
  const T* a;
  const T* b;
  T* c;
  std::int64_t c_stride;
  bool first, last;
  const gemm_epilogue<T>* epilogue;  // at this tile
};

/// `Rows` x `Vectors` vectors of C. Small tiles run several steps of k side by side: one chain of additions would wait
/// for itself.
template <class T, int Rows, int Vectors>
void run_tile(const tile_job<T>& job) {
  constexpr int steps = Rows * Vectors <= 2 ? 4 : Rows * Vectors <= 4 ? 2 : 1;
  const tag<T> d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d)), b_step = 2 * lanes;
  vec<T> sums[steps][Rows][Vectors];
#pragma GCC unroll 16
  for (int s = 0; s < steps; ++s)
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < Vectors; ++j) sums[s][i][j] = hn::Zero(d);

  const T* HWY_RESTRICT a = job.a;
  const T* HWY_RESTRICT b = job.b;
  std::int64_t k = job.k;
  for (; k >= steps; k -= steps, a += steps * tile_rows, b += steps * b_step) {
#pragma GCC unroll 16
    for (int s = 0; s < steps; ++s) {
      vec<T> columns[Vectors];
#pragma GCC unroll 16
      for (int j = 0; j < Vectors; ++j) columns[j] = hn::LoadU(d, b + s * b_step + j * lanes);
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i) {
        const vec<T> factor = hn::Set(d, a[s * tile_rows + i]);
#pragma GCC unroll 16
        for (int j = 0; j < Vectors; ++j) sums[s][i][j] = hn::MulAdd(factor, columns[j], sums[s][i][j]);
      }
    }
  }
  for (; k > 0; --k, a += tile_rows, b += b_step) {
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < Vectors; ++j)
        sums[0][i][j] = hn::MulAdd(hn::Set(d, a[i]), hn::LoadU(d, b + j * lanes), sums[0][i][j]);
  }

#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < Vectors; ++j) {
      vec<T> v = sums[0][i][j];
#pragma GCC unroll 16
      for (int s = 1; s < steps; ++s) v = hn::Add(v, sums[s][i][j]);
      T* const c = job.c + i * job.c_stride + j * lanes;
      if (!job.first) v = hn::Add(v, hn::LoadU(d, c));
      if (job.last) v = finish<T>(*job.epilogue, i, j * lanes, v);
      hn::StoreU(v, d, c);
    }
  }
}

template <class T>
using tile_function = void (*)(const tile_job<T>&);
template <class T, int Rows>
struct tile_functions {
  static void choose(tile_function<T> (*table)[2]) {
    table[Rows - 1][0] = run_tile<T, Rows, 1>;
    table[Rows - 1][1] = run_tile<T, Rows, 2>;
    if constexpr (Rows > 1) tile_functions<T, Rows - 1>::choose(table);
  }
};

/// A tile that C, bias or addend does not hold whole vectors of: worked on in a copy.
template <class T>
void run_edge(tile_function<T> run, tile_job<T> job, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t width = 2 * HWY_MAX_BYTES / std::int64_t(sizeof(T));
  alignas(64) T c[tile_rows * width] = {}, bias[tile_rows * width], add[tile_rows * width];
  T* const to = job.c;
  const std::int64_t stride = job.c_stride;
  gemm_epilogue<T> epilogue = *job.epilogue;
  if (!job.first)
    for (std::int64_t i = 0; i < rows; ++i) std::copy_n(to + i * stride, columns, c + i * width);
  if (job.last && epilogue.bias && epilogue.bias_column_stride) {
    const std::int64_t bias_rows = epilogue.bias_row_stride ? rows : 1;
    std::fill_n(bias, bias_rows * width, T(0));
    for (std::int64_t i = 0; i < bias_rows; ++i)
      std::copy_n(epilogue.bias + i * epilogue.bias_row_stride, columns, bias + i * width);
    epilogue.bias = bias;
    if (epilogue.bias_row_stride) epilogue.bias_row_stride = width;
  }
  if (job.last && epilogue.add) {
    std::fill_n(add, rows * width, T(0));
    for (std::int64_t i = 0; i < rows; ++i)
      std::copy_n(epilogue.add + i * epilogue.add_row_stride, columns, add + i * width);
    epilogue.add = add, epilogue.add_row_stride = width;
  }
  job.c = c, job.c_stride = width, job.epilogue = &epilogue;
  run(job);
  for (std::int64_t i = 0; i < rows; ++i) std::copy_n(c + i * width, columns, to + i * stride);
}

/// Rows of A that are kept in the second cache while all of B's panels pass, and how far down k a panel of B goes to
/// stay in the first.
inline constexpr std::int64_t block_rows = 192, block_depth = 256;

template <class T>
void multiply_panels(const gemm_block<T>& p) {
  const std::int64_t lanes = std::int64_t(hn::Lanes(tag<T>())), tile_columns = 2 * lanes;
  tile_function<T> table[tile_rows][2];
  tile_functions<T, tile_rows>::choose(table);
  const std::int64_t depths = std::max<std::int64_t>(1, (p.k + block_depth - 1) / block_depth);
  const std::int64_t depth = (p.k + depths - 1) / depths;
  for (std::int64_t d = 0; d < depths; ++d) {
    const std::int64_t k0 = d * depth, k = std::min(depth, p.k - k0);
    for (std::int64_t m0 = 0; m0 < p.m; m0 += block_rows) {
      const std::int64_t m1 = std::min(p.m, m0 + block_rows);
      for (std::int64_t n0 = 0; n0 < p.n; n0 += tile_columns) {
        const std::int64_t columns = std::min(tile_columns, p.n - n0);
        const int vectors = columns > lanes ? 2 : 1;
        const bool whole = columns == vectors * lanes;
        for (std::int64_t m = m0; m < m1; m += tile_rows) {
          const std::int64_t rows = std::min<std::int64_t>(tile_rows, m1 - m);
          const gemm_epilogue<T> epilogue = p.epilogue.at(m, n0);
          const tile_job<T> job{k,
                                p.a + m * p.k + k0 * tile_rows,
                                p.b + n0 * p.k + k0 * tile_columns,
                                p.c + m * p.c_row_stride + n0,
                                p.c_row_stride,
                                d == 0,
                                d == depths - 1,
                                &epilogue};
          if (whole) table[rows - 1][vectors - 1](job);
          else run_edge(table[rows - 1][vectors - 1], job, rows, columns);
          if (job.last && !in_registers(epilogue.f.kind))
            for (std::int64_t i = 0; i < rows; ++i) apply_activation(epilogue.f, job.c + i * job.c_stride, columns);
        }
      }
    }
  }
}

/// x . y
template <class T>
T dot(const T* HWY_RESTRICT x, const T* HWY_RESTRICT y, std::int64_t n) {
  const tag<T> d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  vec<T> s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), s0);
    s1 = hn::MulAdd(hn::LoadU(d, x + i + lanes), hn::LoadU(d, y + i + lanes), s1);
    s2 = hn::MulAdd(hn::LoadU(d, x + i + 2 * lanes), hn::LoadU(d, y + i + 2 * lanes), s2);
    s3 = hn::MulAdd(hn::LoadU(d, x + i + 3 * lanes), hn::LoadU(d, y + i + 3 * lanes), s3);
  }
  for (; i + lanes <= n; i += lanes) s0 = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), s0);
  T sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

template <class T>
void dot_rows(const T* rows, std::int64_t row_stride, const T* x, std::int64_t count, std::int64_t n, T* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = dot(rows + i * row_stride, x, n);
}

/// y += sum of a[k] * b[k, :], four rows of B at a time so that y is touched rarely.
template <class T>
void add_rows(const T* a, std::int64_t a_step, const T* b, std::int64_t b_stride, std::int64_t k, std::int64_t n,
              T* HWY_RESTRICT y) {
  const tag<T> d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  for (std::int64_t p = 0; p < k; p += 4) {
    const std::int64_t left = std::min<std::int64_t>(4, k - p);
    const T* rows[4];
    T factors[4];
    for (std::int64_t i = 0; i < 4; ++i) {  // rows that are not there: nothing times a row that is
      rows[i] = b + (p + std::min(i, left - 1)) * b_stride;
      factors[i] = i < left ? a[(p + i) * a_step] : T(0);
    }
    std::int64_t j = 0;
    if (left == 4) {
      const vec<T> f0 = hn::Set(d, factors[0]), f1 = hn::Set(d, factors[1]);
      const vec<T> f2 = hn::Set(d, factors[2]), f3 = hn::Set(d, factors[3]);
      for (; j + lanes <= n; j += lanes) {
        vec<T> v = hn::MulAdd(f0, hn::LoadU(d, rows[0] + j), hn::LoadU(d, y + j));
        vec<T> w = hn::Mul(f1, hn::LoadU(d, rows[1] + j));
        v = hn::MulAdd(f2, hn::LoadU(d, rows[2] + j), v);
        w = hn::MulAdd(f3, hn::LoadU(d, rows[3] + j), w);
        hn::StoreU(hn::Add(v, w), d, y + j);
      }
    }
    for (; j < n; ++j)
      for (std::int64_t i = 0; i < left; ++i) y[j] += factors[i] * rows[i][j];
  }
}

gemm_tile tile_f32() { return {tile_rows, std::int64_t(2 * hn::Lanes(tag<float>()))}; }
void multiply_f32(const gemm_block<float>& p) { multiply_panels(p); }
void dot_rows_f32(const float* r, std::int64_t s, const float* x, std::int64_t c, std::int64_t n, float* y) {
  dot_rows(r, s, x, c, n, y);
}
void add_rows_f32(const float* a, std::int64_t s, const float* b, std::int64_t t, std::int64_t k, std::int64_t n,
                  float* y) {
  add_rows(a, s, b, t, k, n, y);
}
gemm_tile tile_f64() { return {tile_rows, std::int64_t(2 * hn::Lanes(tag<double>()))}; }
void multiply_f64(const gemm_block<double>& p) { multiply_panels(p); }
void dot_rows_f64(const double* r, std::int64_t s, const double* x, std::int64_t c, std::int64_t n, double* y) {
  dot_rows(r, s, x, c, n, y);
}
void add_rows_f64(const double* a, std::int64_t s, const double* b, std::int64_t t, std::int64_t k, std::int64_t n,
                  double* y) {
  add_rows(a, s, b, t, k, n, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace cameo::inline CAMEO_ABI::eps
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cameo::inline CAMEO_ABI::eps {

HWY_EXPORT(tile_f32);
HWY_EXPORT(multiply_f32);
HWY_EXPORT(dot_rows_f32);
HWY_EXPORT(add_rows_f32);
HWY_EXPORT(tile_f64);
HWY_EXPORT(multiply_f64);
HWY_EXPORT(dot_rows_f64);
HWY_EXPORT(add_rows_f64);

std::int64_t built_targets() { return HWY_TARGETS; }

template <>
gemm_tile tile_of<float>() {
  return HWY_DYNAMIC_DISPATCH(tile_f32)();
}
template <>
gemm_tile tile_of<double>() {
  return HWY_DYNAMIC_DISPATCH(tile_f64)();
}
template <>
void multiply_block(const gemm_block<float>& p) {
  HWY_DYNAMIC_DISPATCH(multiply_f32)(p);
}
template <>
void multiply_block(const gemm_block<double>& p) {
  HWY_DYNAMIC_DISPATCH(multiply_f64)(p);
}
void dot_with_rows(const float* r, std::int64_t s, const float* x, std::int64_t c, std::int64_t n, float* y) {
  HWY_DYNAMIC_DISPATCH(dot_rows_f32)(r, s, x, c, n, y);
}
void dot_with_rows(const double* r, std::int64_t s, const double* x, std::int64_t c, std::int64_t n, double* y) {
  HWY_DYNAMIC_DISPATCH(dot_rows_f64)(r, s, x, c, n, y);
}
void add_scaled_rows(const float* a, std::int64_t s, const float* b, std::int64_t t, std::int64_t k, std::int64_t n,
                     float* y) {
  HWY_DYNAMIC_DISPATCH(add_rows_f32)(a, s, b, t, k, n, y);
}
void add_scaled_rows(const double* a, std::int64_t s, const double* b, std::int64_t t, std::int64_t k, std::int64_t n,
                     double* y) {
  HWY_DYNAMIC_DISPATCH(add_rows_f64)(a, s, b, t, k, n, y);
}

}  // namespace cameo::inline CAMEO_ABI::eps
#endif
