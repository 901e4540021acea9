#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>

namespace CAMEO_NAMESPACE::eps {

// Rows of float that are worth vector instructions; which, is found out when the program runs. Results of an element
// don't depend on its place in a row, but for sums over the row, whose order depends on its length alone. Outputs may
// be the inputs they have the length of.

/// y = exp(x), the function of op::Exp.
void exp_row(const float* x, float* y, std::int64_t n);
/// y = exp(x - max) / sum of those.
void softmax_row(const float* x, float* y, std::int64_t n);
/// y = x - max - log(sum of exp(x - max)).
void log_softmax_row(const float* x, float* y, std::int64_t n);
/// Sums of up to 4096 elements in float, of more in double.
double sum_row(const float* x, std::int64_t n);

/// One row of a layer normalization: t = x [+ skip] [+ skip_bias], y = (t - mean) / sqrt(variance + epsilon) * scale [+
/// bias]; without `centers`, y = t / sqrt(mean of t² + epsilon) * scale [+ bias].
template <class C>
struct normal_row {
  const C *x, *skip = nullptr, *skip_bias = nullptr;
  const C *scale, *bias = nullptr;
  C* y;
  C* sum = nullptr;  // gets t, when it is wanted or there is a skip; may be y
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
