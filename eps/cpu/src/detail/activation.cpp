#include <cameo/eps/cpu/detail/activation.hpp>

#include <algorithm>
#include <cmath>

namespace cameo::inline CAMEO_ABI::eps {
namespace {

struct activation_row {
  std::string_view name;
  activation otherwise;  // with the operator's defaults
};
constexpr activation_row activation_rows[] = {
    {"", {}},
    {"Relu", {activation_kind::relu}},
    {"LeakyRelu", {activation_kind::leaky_relu, 0.01f}},
    {"Clip", {activation_kind::clip, -3.402823466e+38f, 3.402823466e+38f}},
    {"HardSigmoid", {activation_kind::hard_sigmoid, 0.2f, 0.5f}},
    {"Sigmoid", {activation_kind::sigmoid}},
    {"Tanh", {activation_kind::tanh}},
    {"Elu", {activation_kind::elu, 1.0f}},
    {"Selu", {activation_kind::selu, 1.67326319f, 1.05070102f}},
    {"Softplus", {activation_kind::softplus}},
    {"Softsign", {activation_kind::softsign}},
    {"ThresholdedRelu", {activation_kind::thresholded_relu, 1.0f}},
};

template <class T, class F>
void each(T* y, std::int64_t count, F f) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = f(y[i]);
}

}  // namespace

result<activation> activation_named(std::string_view name) {
  for (const activation_row& row : activation_rows)
    if (row.name == name) return row.otherwise;
  return status{status_code::invalid_graph,
                "activation is none of Relu LeakyRelu Clip HardSigmoid Sigmoid Tanh Elu Selu Softplus Softsign "
                "ThresholdedRelu"};
}

template <class T>
void apply_activation(const activation& f, T* y, std::int64_t count) {
  const T a = T(f.a), b = T(f.b);
  switch (f.kind) {
    case activation_kind::none: return;
    case activation_kind::relu: return each(y, count, [](T v) { return v < T(0) ? T(0) : v; });
    case activation_kind::leaky_relu: return each(y, count, [=](T v) { return v < T(0) ? a * v : v; });
    case activation_kind::clip:
      return each(y, count, [=](T v) {
        if (v < a) v = a;
        return v > b ? b : v;
      });
    case activation_kind::hard_sigmoid:
      return each(y, count, [=](T v) {
        v = a * v + b;
        return v < T(0) ? T(0) : v > T(1) ? T(1) : v;
      });
    case activation_kind::sigmoid:
      return each(y, count, [](T v) {  // the power never overflows
        const T e = std::exp(-std::abs(v));
        return v < T(0) ? e / (T(1) + e) : T(1) / (T(1) + e);
      });
    case activation_kind::tanh: return each(y, count, [](T v) { return std::tanh(v); });
    case activation_kind::elu: return each(y, count, [=](T v) { return v < T(0) ? a * std::expm1(v) : v; });
    case activation_kind::selu: return each(y, count, [=](T v) { return b * (v > T(0) ? v : a * std::expm1(v)); });
    case activation_kind::softplus:
      return each(y, count, [](T v) { return std::max(v, T(0)) + std::log1p(std::exp(-std::abs(v))); });
    case activation_kind::softsign: return each(y, count, [](T v) { return v / (T(1) + std::abs(v)); });
    case activation_kind::thresholded_relu: return each(y, count, [=](T v) { return v > a ? v : T(0); });
  }
}
template void apply_activation(const activation&, float*, std::int64_t);
template void apply_activation(const activation&, double*, std::int64_t);

}  // namespace cameo::inline CAMEO_ABI::eps
