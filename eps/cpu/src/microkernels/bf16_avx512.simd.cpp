// Products of bfloat16 with AVX-512 BF16 (vdpbf16ps), and with AMX's tiles.
#include "bf16_loops.hpp"
#include "machine/target.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#ifdef __x86_64__
CAMEO_TARGET("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma")
namespace CAMEO_NAMESPACE::eps {
namespace avx512_bf16 {
namespace {

using cells = __m512bh;
constexpr std::int64_t cache_line = 64;

CAMEO_INLINE cells load_cells(const std::uint32_t* p) { return (cells)_mm512_loadu_si512(p); }
CAMEO_INLINE cells broadcast_cell(const std::uint32_t* p) { return (cells)_mm512_set1_epi32(std::int32_t(*p)); }
CAMEO_INLINE __mmask16 first_lanes(std::int64_t count) { return __mmask16((1u << count) - 1); }

/// Adds the products of rows of x and columns of w to the sums, which stay in registers.
template <int Rows, int Vectors>
CAMEO_INLINE void add_products(const bf16_line& p, const std::uint32_t* x, const char* ahead,
                               __m512 (&sums)[Rows][Vectors]) {
  constexpr std::int64_t w_step = Vectors * bf16_lanes;
  const std::uint32_t* w = p.w;
  for (std::int64_t left = p.cells; left > 0; left -= bf16_block, x += p.block_step) {
    const std::int64_t size = (left < bf16_block ? left : bf16_block) * w_step;
    w += p.w_first * size;
    for (std::int64_t t = 0; t < p.tap_count; ++t) {
      for (std::int64_t line = 0; line < p.ahead_lines; ++line, ahead += cache_line) _mm_prefetch(ahead, _MM_HINT_T1);
      const std::uint32_t* from = x + p.taps[t];
      for (const std::uint32_t* const past = w + size; w < past; w += w_step, ++from) {
        cells columns[Vectors];
        CAMEO_UNROLL
        for (int j = 0; j < Vectors; ++j) columns[j] = load_cells(w + j * bf16_lanes);
        CAMEO_UNROLL
        for (int i = 0; i < Rows; ++i) {
          const cells factor = broadcast_cell(from + i * bf16_block);
          CAMEO_UNROLL
          for (int j = 0; j < Vectors; ++j) sums[i][j] = _mm512_dpbf16_ps(sums[i][j], factor, columns[j]);
        }
      }
    }
    w += (p.w_taps - p.w_first - p.tap_count) * size;
  }
}

/// True if sums can start with the bias, which costs nothing: all rows have the same, and alpha is 1.
CAMEO_INLINE bool starts_with_bias(const bf16_line& p) { return p.alpha == 1 && p.bias_row == 0; }
CAMEO_INLINE __m512 bias_of(const bf16_line& p, std::int64_t row, int vector, __mmask16 lanes) {
  if (!p.bias) return _mm512_setzero_ps();
  const float* const from = p.bias + row * p.bias_row;
  const __m512 all = p.bias_column ? _mm512_maskz_loadu_ps(lanes, from + vector * bf16_lanes) : _mm512_set1_ps(*from);
  return _mm512_mul_ps(all, _mm512_set1_ps(p.beta));
}
CAMEO_INLINE __mmask16 lanes_of(const bf16_line& p, int vector) {
  return first_lanes(vector + 1 == p.vectors ? p.lanes : bf16_lanes);
}

/// Stores the outputs of sums that started with the bias, in whole vectors. NaN is preserved, as max and min return
/// their second operand for it.
template <int Rows, int Vectors>
CAMEO_INLINE void put_whole(const bf16_line& p, std::int64_t row, __m512 (&sums)[Rows][Vectors]) {
  const __m512 low = _mm512_set1_ps(p.low), high = _mm512_set1_ps(p.high);
  const std::int64_t y_row = p.y_row, y_vector = p.y_vector, add_row = p.add_row, add_vector = p.add_vector;
  if (p.add) {
    const float* const add = p.add + row * add_row;
    CAMEO_UNROLL
    for (int i = 0; i < Rows; ++i) CAMEO_UNROLL
    for (int j = 0; j < Vectors; ++j)
      sums[i][j] = _mm512_add_ps(sums[i][j], _mm512_loadu_ps(add + i * add_row + j * add_vector));
  }
  CAMEO_UNROLL
  for (int i = 0; i < Rows; ++i) CAMEO_UNROLL
  for (int j = 0; j < Vectors; ++j) sums[i][j] = _mm512_max_ps(low, sums[i][j]);
  if (p.high < std::numeric_limits<float>::infinity()) {
    CAMEO_UNROLL
    for (int i = 0; i < Rows; ++i) CAMEO_UNROLL
    for (int j = 0; j < Vectors; ++j) sums[i][j] = _mm512_min_ps(high, sums[i][j]);
  }
  float* const y = p.y + row * y_row;
  CAMEO_UNROLL
  for (int i = 0; i < Rows; ++i) CAMEO_UNROLL
  for (int j = 0; j < Vectors; ++j) _mm512_storeu_ps(y + i * y_row + j * y_vector, sums[i][j]);
}
/// Stores the outputs in all cases that put_whole() does not support: vectors with fewer lanes, or sums that started
/// with 0.
template <int Rows, int Vectors>
CAMEO_NOINLINE void put_any(const bf16_line& p, std::int64_t row, const __m512 (&sums)[Rows][Vectors]) {
  const __m512 alpha = _mm512_set1_ps(p.alpha), low = _mm512_set1_ps(p.low), high = _mm512_set1_ps(p.high);
  for (std::int64_t i = row; i < row + Rows; ++i)
    for (int j = 0; j < Vectors; ++j) {
      const __mmask16 lanes = lanes_of(p, j);
      __m512 v = sums[i - row][j];
      if (!starts_with_bias(p)) v = _mm512_add_ps(_mm512_mul_ps(v, alpha), bias_of(p, i, j, lanes));
      if (p.add) v = _mm512_add_ps(v, _mm512_maskz_loadu_ps(lanes, p.add + i * p.add_row + j * p.add_vector));
      v = _mm512_min_ps(high, _mm512_max_ps(low, v));
      float* const to = p.y + i * p.y_row + j * p.y_vector;
      if (p.fills) _mm512_storeu_ps(to, _mm512_maskz_mov_ps(lanes, v));
      else _mm512_mask_storeu_ps(to, lanes, v);
    }
}

template <int Rows, int Vectors>
CAMEO_NOINLINE void run_tile(const bf16_line& p, std::int64_t row, const std::uint32_t* x, const char* ahead) {
  __m512 sums[Rows][Vectors];
  const bool starts = starts_with_bias(p);
  const float* const add = p.add ? p.add + row * p.add_row : nullptr;
  CAMEO_UNROLL
  for (int j = 0; j < Vectors; ++j) {
    const __m512 start = starts ? bias_of(p, row, j, lanes_of(p, j)) : _mm512_setzero_ps();
    CAMEO_UNROLL
    for (int i = 0; i < Rows; ++i) {
      sums[i][j] = start;
      // The addend is prefetched while sums are computed, as large tensors are not in a cache.
      if (add) _mm_prefetch(add + i * p.add_row + j * p.add_vector, _MM_HINT_T0);
    }
  }
  add_products<Rows, Vectors>(p, x, ahead, sums);
  if (starts && p.lanes == bf16_lanes) return put_whole(p, row, sums);
  __m512 all[Rows][Vectors];  // a copy: if put_any() took the address of `sums`, they could not stay in registers
  CAMEO_UNROLL
  for (int i = 0; i < Rows; ++i) CAMEO_UNROLL
  for (int j = 0; j < Vectors; ++j) all[i][j] = sums[i][j];
  put_any(p, row, all);
}

/// Applies an activation other than bounds to the stored outputs.
void activate(const bf16_line& p) {
  for (std::int64_t row = 0; p.f && row < p.rows; ++row)
    for (std::int64_t j = 0; j < p.vectors; ++j)
      apply_activation(*p.f, p.y + row * p.y_row + j * p.y_vector, j + 1 == p.vectors ? p.lanes : bf16_lanes);
}

constexpr int rows_of_two = 12, rows_of_three = 8;  // the most rows of a tile of two and three vectors, in registers
using tile = void (*)(const bf16_line&, std::int64_t row, const std::uint32_t* x, const char* ahead);
template <int Vectors, int... I>
constexpr std::array<tile, sizeof...(I)> tiles_of(std::integer_sequence<int, I...>) {
  return {run_tile<I + 1, Vectors>...};
}

template <int Rows, int Vectors>
void run_rows(const bf16_line& p) {
  static constexpr auto all = tiles_of<Vectors>(std::make_integer_sequence<int, Rows>());
  const std::int64_t step = p.ahead_lines * cache_line * p.tap_count * ((p.cells + bf16_block - 1) / bf16_block);
  const std::uint32_t* x = p.x;
  const char* ahead = p.ahead;
  for (std::int64_t row = 0; row < p.rows; row += p.tile_rows, x += p.tile_step, ahead += step) {
    const std::int64_t n = p.rows - row < p.tile_rows ? p.rows - row : p.tile_rows;
    all[std::size_t(n - 1)](p, row, x, ahead);
  }
}

void run_line(const bf16_line& p) {
  if (p.vectors == 3) run_rows<rows_of_three, 3>(p);
  else if (p.vectors == 2) run_rows<rows_of_two, 2>(p);
  else run_rows<rows_of_two, 1>(p);
  activate(p);
}

void narrow(const float* from, std::int64_t step, std::int64_t count, std::uint32_t* to, std::int64_t to_step) {
  for (; count >= bf16_lanes; count -= bf16_lanes, from += step, to += to_step)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(from)));
  if (count <= 0) return;
  const __m512 rest = _mm512_maskz_loadu_ps(first_lanes(count), from);
  _mm256_mask_storeu_epi32(to, __mmask8((1u << (count + 1) / 2) - 1), (__m256i)_mm512_cvtneps_pbh(rest));
}

}  // namespace
}  // namespace avx512_bf16

extern const bf16_loops avx512_bf16_loops;
constinit const bf16_loops avx512_bf16_loops{avx512_bf16::rows_of_two, avx512_bf16::rows_of_three,
                                             avx512_bf16::run_line, avx512_bf16::narrow};

}  // namespace CAMEO_NAMESPACE::eps
CAMEO_TARGET_END

#if CAMEO_HAS_AMX
CAMEO_TARGET("amx-tile,amx-bf16,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma")
namespace CAMEO_NAMESPACE::eps {
namespace avx512_bf16 {
namespace {
#include "bf16_amx-inl.hpp"
}  // namespace
}  // namespace avx512_bf16

extern const bf16_loops amx_bf16_loops;
constinit const bf16_loops amx_bf16_loops{2 * avx512_bf16::side, avx512_bf16::side, avx512_bf16::run_tiled_line,
                                          avx512_bf16::narrow};

}  // namespace CAMEO_NAMESPACE::eps
CAMEO_TARGET_END
#endif
#endif
