#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>

namespace CAMEO_NAMESPACE::eps {

// Functions of rows of float with vector instructions; the instruction set is chosen at run time. The result of an
// element does not depend on its position in a row, and a sum over a row is formed in an order that depends on its
// length alone. An output may be the buffer of an input of the same length.

/// y = exp(x), the function of ONNX's Exp.
void exp_row(const float* x, float* y, std::int64_t n);
/// y = exp(x - max), divided by the sum of these.
void softmax_row(const float* x, float* y, std::int64_t n);
/// y = x - max - log(sum of exp(x - max)).
void log_softmax_row(const float* x, float* y, std::int64_t n);
/// The sum of a row: in float over blocks of 4096 elements, whose sums are added in double.
double sum_row(const float* x, std::int64_t n);

/// One row of a layer normalization: t = x [+ skip] [+ skip_bias], y = (t - mean) / sqrt(variance + epsilon) * scale [+
/// bias]; without `centers`, y = t / sqrt(mean(t^2) + epsilon) * scale [+ bias].
template <class C>
struct normal_row {
  const C *x, *skip = nullptr, *skip_bias = nullptr;
  const C *scale, *bias = nullptr;
  C* y;
  C* sum = nullptr;  // receives t; required if there is a skip, and may be y
  std::int64_t n;
  double epsilon;
  bool centers = true;
};
struct row_statistics {
  double mean, inverse;  // 1 / sqrt(variance + epsilon)
};
row_statistics normalize_row(const normal_row<float>&);
row_statistics normalize_row(const normal_row<double>&);

}  // namespace CAMEO_NAMESPACE::eps
