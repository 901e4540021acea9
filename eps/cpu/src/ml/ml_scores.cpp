#include <cameo/eps/cpu/detail/ml_scores.hpp>
#include <cameo/op/onnx.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "operands/operand_values.hpp"
#include "skeletons/map.hpp"

namespace CAMEO_NAMESPACE::eps {

double logistic(double v) {
  map_loop<op::Sigmoid, double>()({}, &v, &v, 1);
  return v;
}

/// The inverse of the normal distribution, by Winitzki's approximation of the inverse error function, as in ONNX
/// Runtime.
double probit(double v) {
  constexpr double a = 0.147;
  const double x = 2 * v - 1, log = std::log((1 - x) * (1 + x));
  const double half = 2 / (std::numbers::pi * a) + log / 2;
  const double inverse = std::sqrt(std::sqrt(half * half - log / a) - half);
  return std::numbers::sqrt2 * (x < 0 ? -inverse : inverse);
}

void transform_scores(score_transform f, double* scores, std::int64_t n) {
  switch (f) {
    case score_transform::none: return;
    case score_transform::logistic: return map_loop<op::Sigmoid, double>()({}, scores, scores, n);
    case score_transform::probit: return void(std::transform(scores, scores + n, scores, probit));
    case score_transform::softmax:
    case score_transform::softmax_zero: break;
  }
  if (n == 0) return;
  const double most = *std::max_element(scores, scores + n);
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const bool zero = f == score_transform::softmax_zero && std::abs(scores[i]) <= 1e-7;
    if (zero) scores[i] *= std::exp(-most);
    else sum += scores[i] = std::exp(scores[i] - most);
  }
  // If all scores are zero, the sum is 0, and the results are NaN, as in ONNX Runtime.
  for (std::int64_t i = 0; i < n; ++i) scores[i] /= sum;
}

std::int64_t finish_scores(score_transform f, second_class second, double* scores, std::int64_t n) {
  if (n != 1) return transform_scores(f, scores, n), n;
  const double s = scores[0];
  if (f == score_transform::probit) return scores[0] = probit(s), 1;
  if (second == second_class::none) return 1;
  if (f == score_transform::logistic) scores[0] = logistic(-s), scores[1] = logistic(s);
  else scores[0] = second == second_class::complement ? 1 - s : -s, scores[1] = s;
  return 2;
}

feature_rows rows_of(const value& x) {
  if (x.shape.rank() == 1) return {1, x.shape[0]};
  return {x.shape[0], x.shape[1]};
}

void read_row(const value& x, std::int64_t row, std::int64_t columns, double* to) {
  number_elements::call(x.type, [&]<class T>(std::type_identity<T>) {
    const T* const from = static_cast<const T*>(x.data) + row * columns;
    for (std::int64_t i = 0; i < columns; ++i) to[i] = double(widened(from[i]));
  });
}

result<std::span<const double>> numbers_of(bind_context& c, std::string_view name, attribute_tensor tensor,
                                           std::span<const float> floats) {
  if (tensor && (detail::bit_of(tensor->type) & mask_of<float, double, float16, std::uint8_t>) == 0)
    return bad_attribute(name, " is a tensor of ", tensor->type, ", must be one of floats");
  const std::int64_t count = tensor ? tensor->shape.count() : std::int64_t(floats.size());
  const result<std::span<double>> kept = c.keep<double>(std::size_t(count));
  if (!kept) return kept.error();
  if (tensor) read_row(*tensor, 0, count, kept->data());
  else std::copy(floats.begin(), floats.end(), kept->begin());
  return std::span<const double>{*kept};
}

}  // namespace CAMEO_NAMESPACE::eps
