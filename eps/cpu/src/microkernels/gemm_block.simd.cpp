// The micro-kernel of the matrix product, compiled once per instruction set. A tile is the rows and columns of C whose
// sums stay in registers; a panel is the columns of B (or the rows of A) of one tile, packed step by step of k.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cameo/eps/cpu/detail/gemm_block.hpp>

#include "epilogue-inl.hpp"
#include "functions/narrow_vectors-inl.hpp"
#include "machine/target.hpp"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE {
// A tile has 12 x 2 vectors of sums if there are 32 registers, and 6 x 2 if there are 16. Each number of rows is a
// separate instance of the code, so builds that have to be small have fewer.
#ifdef CAMEO_CODE_ONLY
inline constexpr int tile_rows = 4;
#else
inline constexpr int tile_rows = CAMEO_SIMD_REGISTERS == 32 ? 12 : 6;
#endif

/// The arguments of the micro-kernel for one tile. It reads and writes whole vectors of B, C, bias and addend.
template <class T, class B = T>
struct tile_job {
  std::int64_t k;
  const T* a;
  std::int64_t a_row, a_step;  // elements between rows, and between steps of k
  const B* b;
  T* c;
  std::int64_t c_stride;
  bool first, last;                  // the first block of k stores its sums, others add to C; the last has the epilogue
  const gemm_epilogue<T>* epilogue;  // its pointers are those for this tile
  const B* ahead;                    // the part of B that is read next
  int ahead_lines;                   // cache lines of it to prefetch with every four steps of k
};

/// Applies the epilogue (alpha, bias, addend and bounds) to a tile of sums. Each condition is tested once for all
/// vectors.
template <class T, int Rows, int Vectors>
HWY_INLINE void finish_tile(const gemm_epilogue<T>& e, vec<T> (&v)[Rows][Vectors]) {
  const tag<T> d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  const auto each = [&](const auto& f) {
    CAMEO_UNROLL
    for (int i = 0; i < Rows; ++i) CAMEO_UNROLL
    for (int j = 0; j < Vectors; ++j) v[i][j] = f(i, j, v[i][j]);
  };
  if (e.alpha != T(1)) {
    const vec<T> alpha = hn::Set(d, e.alpha);
    each([&](int, int, vec<T> x) HWY_ATTR { return hn::Mul(x, alpha); });
  }
  if (e.bias && e.bias_column_stride && !e.bias_row_stride && e.beta == T(1)) {
    CAMEO_UNROLL
    for (int j = 0; j < Vectors; ++j) {
      const vec<T> bias = hn::LoadU(d, e.bias + j * lanes);
      CAMEO_UNROLL
      for (int i = 0; i < Rows; ++i) v[i][j] = hn::Add(v[i][j], bias);
    }
  } else if (e.bias) {
    const vec<T> beta = hn::Set(d, e.beta);
    each([&](int i, int j, vec<T> x) HWY_ATTR {
      const T* const bias = e.bias + i * e.bias_row_stride;
      return hn::Add(x, hn::Mul(e.bias_column_stride ? hn::LoadU(d, bias + j * lanes) : hn::Set(d, *bias), beta));
    });
  }
  if (e.add)
    each([&](int i, int j, vec<T> x)
             HWY_ATTR { return hn::Add(x, hn::LoadU(d, e.add + i * e.add_row_stride + j * lanes)); });
  if (e.f.kind == activation_kind::bounds) each([&](int, int, vec<T> x) HWY_ATTR { return activate<T>(e.f, x); });
}

/// Computes a tile of `Rows` x `Vectors` vectors of C. Each sum is one chain of additions. Several chains would make
/// small tiles faster, but their results would differ from those of large tiles.
template <class T, class B, int Rows, int Vectors>
void run_tile(const tile_job<T, B>& job) {
  constexpr int group = 4;
  const tag<T> d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d)), b_step = 2 * lanes;
  vec<T> sums[Rows][Vectors];
  CAMEO_UNROLL
  for (int i = 0; i < Rows; ++i) CAMEO_UNROLL
  for (int j = 0; j < Vectors; ++j) sums[i][j] = hn::Zero(d);

  const std::int64_t a_row = job.a_row, a_step = job.a_step;
  const T* HWY_RESTRICT a = job.a;
  const B* HWY_RESTRICT b = job.b;
  const auto step = [&]() HWY_ATTR {
    vec<T> columns[Vectors];
    CAMEO_UNROLL
    for (int j = 0; j < Vectors; ++j) columns[j] = narrow_vectors::load(d, b + j * lanes);
    CAMEO_UNROLL
    for (int i = 0; i < Rows; ++i) {
      const vec<T> factor = hn::Set(d, a[i * a_row]);
      CAMEO_UNROLL
      for (int j = 0; j < Vectors; ++j) sums[i][j] = hn::MulAdd(factor, columns[j], sums[i][j]);
    }
    a += a_step, b += b_step;
  };
  const char* ahead = reinterpret_cast<const char*>(job.ahead);
  std::int64_t k = job.k;
  for (; k >= group; k -= group) {
    for (int line = 0; line < job.ahead_lines; ++line, ahead += 64) __builtin_prefetch(ahead, 0, 2);
#pragma GCC unroll 1  // unrolled further, compilers allocate registers worse
    for (int s = 0; s < group; ++s) step();
  }
  for (; k > 0; --k) step();

  CAMEO_UNROLL
  for (int i = 0; i < Rows; ++i) CAMEO_UNROLL
  for (int j = 0; j < Vectors; ++j)
    if (!job.first) sums[i][j] = hn::Add(sums[i][j], hn::LoadU(d, job.c + i * job.c_stride + j * lanes));
  if (job.last) finish_tile<T, Rows, Vectors>(*job.epilogue, sums);
  CAMEO_UNROLL
  for (int i = 0; i < Rows; ++i) CAMEO_UNROLL
  for (int j = 0; j < Vectors; ++j) hn::StoreU(sums[i][j], d, job.c + i * job.c_stride + j * lanes);
}

template <class T, class B = T>
using tile_function = void (*)(const tile_job<T, B>&);
template <class T, class B, int Rows>
struct tile_functions {
  static void choose(tile_function<T, B> (*table)[2]) {
    table[Rows - 1][0] = run_tile<T, B, Rows, 1>;
    table[Rows - 1][1] = run_tile<T, B, Rows, 2>;
    if constexpr (Rows > 1) tile_functions<T, B, Rows - 1>::choose(table);
  }
};

/// Computes a tile at the edge of C, where vectors would exceed C, bias or addend, on copies of them.
template <class T, class B>
void run_edge(tile_function<T, B> run, tile_job<T, B> job, std::int64_t rows, std::int64_t columns) {
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

/// The number of rows of A that stay in the L2 cache while they are multiplied by all panels of B.
inline constexpr std::int64_t block_rows = gemm_block_rows;
/// The distance in bytes at which B is prefetched if it is read once.
inline constexpr std::int64_t stream_distance = 4096;

/// The memory of the rows of A that a block multiplies.
template <class T>
struct tile_rows_of {
  const T* data;
  std::int64_t panel, row, step;  // elements from one tile, one row of a tile, and one step of k to the next
};

/// Rows [m0, m1) of A, steps [k0, k0 + k): in place, or packed or widened into `p.buffer`.
template <class T, class B, class A>
tile_rows_of<T> rows_of(const gemm_block<T, B, A>& p, std::int64_t m0, std::int64_t m1, std::int64_t k0,
                        std::int64_t k) {
  const number_source<T, A> all{p.a, p.narrow_a};
  if (p.a_row_stride == 0 && p.a_column_stride == 0) {
    if (!all.narrow) return {p.a + m0 * p.k + k0 * tile_rows, tile_rows * p.k, 1, tile_rows};
    T* to = p.buffer;
    for (std::int64_t m = m0; m < m1; m += tile_rows, to += tile_rows * k)
      (all + (m * p.k + k0 * tile_rows)).read(to, k * tile_rows);
  } else {
    const matrix_ref<T, A> from = matrix_ref<T, A>{all, p.a_row_stride, p.a_column_stride}.from(m0, k0);
    if (!p.buffer) return {from.data, tile_rows * p.a_row_stride, p.a_row_stride, p.a_column_stride};
    const std::int64_t m = m1 - m0;
    if (from.narrow && p.n < gemm_few_panels(p.a_column_stride) * tile_of<T>().columns) {
      const bool rows = p.a_column_stride == 1;
      from.elements().read_lines(p.buffer, rows ? m : k, rows ? k : m, rows ? p.a_row_stride : p.a_column_stride);
      if (rows) return {p.buffer, tile_rows * k, k, 1};
      return {p.buffer, tile_rows, 1, m};
    }
    pack_a(from, m, k, p.buffer);
  }
  return {p.buffer, tile_rows * k, 1, tile_rows};
}

/// Multiplies one panel of B by all tiles of rows [m0, m1), which are columns of C from n0 on. `job` has the members
/// that all tiles share.
template <class T, class P, class A, class B>
void multiply_panel(const gemm_block<T, P, A>& p, const tile_function<T, B> (*table)[2], const tile_rows_of<T>& a,
                    std::int64_t m0, std::int64_t m1, std::int64_t n0, tile_job<T, B> job) {
  const std::int64_t lanes = std::int64_t(hn::Lanes(tag<T>())), columns = std::min(2 * lanes, p.n - n0);
  const int vectors = columns > lanes ? 2 : 1;
  const bool whole = columns == vectors * lanes;
  const std::int64_t ahead_step = job.ahead_lines * (job.k / 4) * std::int64_t(64 / sizeof(B));
  const B* const ahead_end = job.ahead + 2 * lanes * job.k;
  job.a = a.data, job.a_row = a.row, job.a_step = a.step, job.c_stride = p.c_row_stride;
  for (std::int64_t m = m0; m < m1; m += tile_rows, job.a += a.panel, job.ahead += ahead_step) {
    const std::int64_t rows = std::min<std::int64_t>(tile_rows, m1 - m);
    const gemm_epilogue<T> epilogue = p.epilogue.at(m, n0);
    job.c = p.c + m * p.c_row_stride + n0, job.epilogue = &epilogue;
    if (job.ahead >= ahead_end) job.ahead_lines = 0;
    if (whole) table[rows - 1][vectors - 1](job);
    else run_edge(table[rows - 1][vectors - 1], job, rows, columns);
    if (job.last && epilogue.f.kind == activation_kind::stored)
      for (std::int64_t i = 0; i < rows; ++i) apply_activation(epilogue.f, job.c + i * job.c_stride, columns);
  }
}

/// Multiplies all blocks of k and all panels of B. If the block has one row of tiles, the outer loop is over panels, so
/// that B is read once, in order; otherwise it is over k, so that rows of A stay in a cache for all panels. Panels with
/// elements P are widened to B first, if the types differ.
template <class B, int Rows, class T, class P, class A>
void multiply_panels(const gemm_block<T, P, A>& p) {
  constexpr bool widens = !std::is_same_v<B, P>;
  const std::int64_t tile_columns = 2 * std::int64_t(hn::Lanes(tag<T>()));
  tile_function<T, B> table[Rows][2];
  tile_functions<T, B, Rows>::choose(table);
  const std::int64_t depth = gemm_depth(p.k), depths = std::max<std::int64_t>(1, (p.k + depth - 1) / depth);
  constexpr double little = 1 << 20;  // a block of fewer multiplications needs no stop check
  const run_context* const run = double(p.m) * double(p.n) * double(p.k) < little ? nullptr : p.run;
  detail::stop_pace pace;
  const auto multiply_one = [&](const tile_rows_of<T>& a, std::int64_t m0, std::int64_t m1, std::int64_t n0,
                                std::int64_t d) {
    const std::int64_t k0 = d * depth, k = std::min(depth, p.k - k0), tiles = (m1 - m0 + tile_rows - 1) / tile_rows;
    // Four steps of all tiles together prefetch the cache lines that four steps of the next panel need.
    const std::int64_t lines = (4 * tile_columns * std::int64_t(sizeof(B)) + 63) / 64;
    const bool near = widens || (tiles == 1 && p.k * p.n * std::int64_t(sizeof(B)) < gemm_cached_bytes);
    const int ahead_lines = near ? 0 : int((lines + tiles - 1) / tiles);
    const P* const panel = p.b + n0 * p.k + k0 * tile_columns;
    const B *b = nullptr, *ahead = nullptr;
    if constexpr (widens) {
      widen_row(panel, p.wide, k * tile_columns);
      b = ahead = p.wide;
    } else {
      b = panel, ahead = tiles == 1 ? b + stream_distance / sizeof(B) : b + tile_columns * p.k;
    }
    multiply_panel<T, P, A, B>(p, table, a, m0, m1, n0,
                               {k, nullptr, 0, 0, b, nullptr, 0, d == 0, d == depths - 1, nullptr, ahead, ahead_lines});
  };
  if (p.m <= tile_rows && p.k <= gemm_row_depth) {
    const tile_rows_of<T> all = rows_of(p, 0, p.m, 0, p.k);
    for (std::int64_t n0 = 0; n0 < p.n; n0 += tile_columns) {
      if (run && run->stopped(pace)) return;
      for (std::int64_t d = 0; d < depths; ++d)
        multiply_one({all.data + d * depth * all.step, all.panel, all.row, all.step}, 0, p.m, n0, d);
    }
    return;
  }
  for (std::int64_t d = 0; d < depths; ++d)
    for (std::int64_t m0 = 0; m0 < p.m; m0 += block_rows) {
      const std::int64_t m1 = std::min(p.m, m0 + block_rows), k0 = d * depth;
      const tile_rows_of<T> a = rows_of(p, m0, m1, k0, std::min(depth, p.k - k0));
      for (std::int64_t n0 = 0; n0 < p.n; n0 += tile_columns) {
        if (run && run->stopped(pace)) return;
        multiply_one(a, m0, m1, n0, d);
      }
    }
}

/// Computes a gemm_block. Panels of float16 or bfloat16 are widened in registers if there are few rows, else once for
/// all tiles.
template <class Block>
void multiply_any(const Block& p) {
  using B = std::remove_cvref_t<decltype(*p.b)>;
  constexpr int few = std::min<int>(tile_rows, gemm_narrow_rows);
  if constexpr (!is_narrow_v<B>) multiply_panels<B, tile_rows>(p);
  else if (p.m > few) multiply_panels<float, tile_rows>(p);
  else multiply_panels<B, few>(p);
}

template <class T>
gemm_tile tile_here() {
  return {tile_rows, std::int64_t(2 * hn::Lanes(tag<T>()))};
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace CAMEO_NAMESPACE::eps {

template <class T>
gemm_tile tile_of() {
  return CAMEO_SIMD_BEST(tile_here<T>)();
}
template <class T, class B, class A>
void multiply_block(const gemm_block<T, B, A>& p) {
  using block = gemm_block<T, B, A>;
  CAMEO_SIMD_BEST(multiply_any<block>)(p);
}

template gemm_tile tile_of<float>();
template gemm_tile tile_of<double>();
template void multiply_block(const gemm_block<float>&);
template void multiply_block(const gemm_block<float, float, any_float>&);
template void multiply_block(const gemm_block<double>&);
template void multiply_block(const gemm_block<float, float16>&);
template void multiply_block(const gemm_block<float, bfloat16>&);

}  // namespace CAMEO_NAMESPACE::eps
#endif
