#pragma once
#include <cameo/eps/cpu/detail/as_number.hpp>
#include <cameo/eps/cpu/detail/float_product.hpp>
#include <cameo/kernel/bind_context.hpp>

#include <algorithm>
#include <limits>

#include "machine/parallel_rows.hpp"

namespace CAMEO_NAMESPACE::eps {

// Helpers of Gemm, QGemm and MatMul.

/// Converts to the nearest value of T, for values outside of its range too; NaN becomes 0.
template <class T>
T saturated(double v) {
  using limits = std::numeric_limits<T>;
  if (!(v == v)) return T(0);
  if (v <= double(limits::min())) return limits::min();
  if (v >= double(limits::max())) return limits::max();
  return T(v);
}

/// Computes the products of a gemm_problem of integers, which wrap, with plain loops. `finish(sum, row, column)`
/// returns what is stored.
template <class T, class F>
status multiply_integers(run_context& c, const gemm_problem<T>& p, const F& finish) {
  using bits = std::make_unsigned_t<T>;
  const std::int64_t products = std::int64_t(std::max<std::size_t>({1, p.a_offsets.size(), p.b_offsets.size()}));
  if (p.m == 0 || p.n == 0) return {};
  // The sums of `strip` columns stay in the L1 cache; there are `some` steps of k between two stop checks.
  constexpr std::int64_t strip = 2048, some = 64;
  const std::int64_t grain = grain_of(1 << 16, std::max<std::int64_t>(p.k, 1) * p.n);
  parallel_for(c, products * p.m, grain, [&](std::int64_t first, std::int64_t last) {
    detail::stop_pace pace;
    for (std::int64_t r = first; r < last; ++r) {
      const std::size_t product = std::size_t(r / p.m);
      const T* const a = p.a.data + (p.a_offsets.empty() ? 0 : p.a_offsets[product]) + r % p.m * p.a.row_stride;
      const T* const b = p.b.data + (p.b_offsets.empty() ? 0 : p.b_offsets[product]);
      T* const y = p.c + r * p.n;
      for (std::int64_t j0 = 0; j0 < p.n; j0 += strip) {
        const std::int64_t j1 = std::min(p.n, j0 + strip);
        std::fill(y + j0, y + j1, T(0));
        for (std::int64_t k = 0; k < p.k; ++k) {
          if (k % some == 0 && c.stopped(pace)) return;
          const bits factor = bits(a[k * p.a.column_stride]);
          const T* const row = b + k * p.b.row_stride;
          for (std::int64_t j = j0; j < j1; ++j) y[j] = T(bits(y[j]) + factor * bits(row[j * p.b.column_stride]));
        }
        for (std::int64_t j = j0; j < j1; ++j) y[j] = finish(y[j], r % p.m, j);
      }
    }
  });
  return {};
}

/// The number of rows that A [..., rows, columns] has in every run, with its batch counted as rows; -1 if unknown. A
/// vector is one row.
inline std::int64_t known_rows(const operand& a, bool transposed) {
  if (!a.has_rank || a.shape.rank() == 0) return -1;
  std::int64_t rows = 1;
  for (std::size_t i = 0; i < a.shape.rank(); ++i) {
    const bool summed = a.shape.rank() == 1 || i + (transposed ? 2 : 1) == a.shape.rank();
    if (summed) continue;
    if (a.shape[i] < 0 || !checked_multiply(rows, a.shape[i], rows)) return -1;
  }
  return rows;
}

/// Packs a constant B [k, n] as panels of the constant's type, in memory that lives as long as the plan; none if there
/// is nothing to gain, or prepacking is off:
///   - few rows of A gain nothing by panels, so a copy of B would waste its memory;
///   - if the number of rows is unknown, B is packed, as panels suit any number. An exception is a large table whose
///     rows are used as columns (an embedding that also makes logits), since other nodes read it unpacked;
///   - if plans share packed constants, few rows read the panels that another plan made, which give the same sums as B
///     itself; a transposed B stays unpacked, as its sums would differ.
template <class T>
result<gemm_panels<T>> keep_packed_b(bind_context& c, std::size_t input, bool transposed, std::int64_t k,
                                     std::int64_t n, std::int64_t rows = -1) {
  gemm_panels<T> made;
  if constexpr (std::is_integral_v<T>) {
    return made;
  } else {
    if (!c.prepack || n < 2 || k < 1) return made;
    constexpr std::int64_t few = 4;
    constexpr double large_bytes = 1 << 24;
    const bool table = transposed && double(k) * double(n) * double(sizeof(T)) >= large_bytes;
    const bool is_shared = c.packs.self != nullptr;
    made.for_few_rows = rows >= 0 && rows <= few;
    if (made.for_few_rows && (transposed || !is_shared)) return gemm_panels<T>{};
    if (table && (rows < 0 || is_shared)) return made;
    std::size_t size = 0;
    if (!packed_b_size<gemm_number<T>>(k, n, size)) return status_code::out_of_memory;
    const result<std::span<const T>> packed =
        c.pack<T>(input, size, [&](const value& elements, std::span<T> to) -> status {
          const T* const from = elements.as_unchecked<T>().data();
          pack_b(matrix_ref<T>{from, transposed ? 1 : n, transposed ? k : 1}, k, n, to.data());
          return {};
        });
    if (!packed) return packed.error();
    made.data = packed->data();
    return made;
  }
}

}  // namespace CAMEO_NAMESPACE::eps
