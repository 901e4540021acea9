#pragma once
#include <cameo/op/onnx.hpp>

#include <cmath>
#include <cstdint>

#include "float_rows.hpp"

// Normalizations along an axis, a function for each operator, in float (also for float16 and bfloat16) or
// double.
namespace CAMEO_NAMESPACE::eps {

constexpr std::int64_t most_columns = 64;

/// Adjacent columns of numbers along an axis: element a of column i is x[a * step + i], with n columns (at most
/// most_columns) of `size` elements. y may be x.
template <class C>
struct columns_block {
  const C* x;
  C* y;
  std::int64_t size, step, n;
  std::int64_t p;  // the attribute p of LpNormalization
};

template <class C>
void find_largest(const columns_block<C>& b, C* largest) {
  for (std::int64_t i = 0; i < b.n; ++i) largest[i] = b.x[i];
  for (std::int64_t a = 1; a < b.size; ++a)
    for (std::int64_t i = 0; i < b.n; ++i) {
      const C x = b.x[a * b.step + i];
      largest[i] = x > largest[i] ? x : largest[i];
    }
}

inline void powers(float* x, std::int64_t n) { exp_row(x, x, n); }
inline void powers(double* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = std::exp(x[i]);
}

template <class C>
void normalize(op::Softmax, const columns_block<C>& b) {
  if constexpr (std::is_same_v<C, float>)
    if (b.step == 1) return softmax_row(b.x, b.y, b.size);
  C largest[most_columns];
  double sum[most_columns] = {};
  find_largest(b, largest);
  for (std::int64_t a = 0; a < b.size; ++a) {
    C* const row = b.y + a * b.step;
    for (std::int64_t i = 0; i < b.n; ++i) row[i] = b.x[a * b.step + i] - largest[i];
    powers(row, b.n);
    for (std::int64_t i = 0; i < b.n; ++i) sum[i] += double(row[i]);
  }
  for (std::int64_t a = 0; a < b.size; ++a)
    for (std::int64_t i = 0; i < b.n; ++i) b.y[a * b.step + i] = C(double(b.y[a * b.step + i]) / sum[i]);
}
template <class C>
void normalize(op::LogSoftmax, const columns_block<C>& b) {
  if constexpr (std::is_same_v<C, float>)
    if (b.step == 1) return log_softmax_row(b.x, b.y, b.size);
  C largest[most_columns], row[most_columns];
  double sum[most_columns] = {};
  find_largest(b, largest);
  for (std::int64_t a = 0; a < b.size; ++a) {
    for (std::int64_t i = 0; i < b.n; ++i) row[i] = b.x[a * b.step + i] - largest[i];
    powers(row, b.n);
    for (std::int64_t i = 0; i < b.n; ++i) sum[i] += double(row[i]);
  }
  for (std::int64_t i = 0; i < b.n; ++i) sum[i] = std::log(sum[i]);
  for (std::int64_t a = 0; a < b.size; ++a)
    for (std::int64_t i = 0; i < b.n; ++i) b.y[a * b.step + i] = C(double(b.x[a * b.step + i] - largest[i]) - sum[i]);
}
/// 1 for the first of the largest elements. `largest` is NaN only if the first element is, and then all results are 0.
template <class C>
void normalize(op::Hardmax, const columns_block<C>& b) {
  C largest[most_columns];
  std::int64_t at[most_columns] = {};
  for (std::int64_t i = 0; i < b.n; ++i) largest[i] = b.x[i];
  for (std::int64_t a = 1; a < b.size; ++a)
    for (std::int64_t i = 0; i < b.n; ++i)
      if (b.x[a * b.step + i] > largest[i]) largest[i] = b.x[a * b.step + i], at[i] = a;
  for (std::int64_t a = 0; a < b.size; ++a)
    for (std::int64_t i = 0; i < b.n; ++i) b.y[a * b.step + i] = C(a == at[i] && largest[i] == largest[i]);
}

template <class C>
void normalize(op::LpNormalization, const columns_block<C>& b) {
  const bool squares = b.p == 2;
  double norm[most_columns] = {};
  for (std::int64_t a = 0; a < b.size; ++a)
    for (std::int64_t i = 0; i < b.n; ++i) {
      const auto v = double(b.x[a * b.step + i]);
      norm[i] += squares ? v * v : std::abs(v);
    }
  for (std::int64_t i = 0; i < b.n; ++i) {
    if (squares) norm[i] = std::sqrt(norm[i]);
    if (norm[i] == 0) norm[i] = 1;
  }
  for (std::int64_t a = 0; a < b.size; ++a)
    for (std::int64_t i = 0; i < b.n; ++i) b.y[a * b.step + i] = C(double(b.x[a * b.step + i]) / norm[i]);
}

}  // namespace CAMEO_NAMESPACE::eps
