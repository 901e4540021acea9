#include <cmath>

#include "unary_rows.hpp"

// Comparisons are written so that NaN passes.
namespace cameo::inline CAMEO_ABI::eps {
namespace {

struct with_attributes {
  unary_parameters p;
  with_attributes() = default;
  explicit with_attributes(const unary_parameters& from) : p{from} {}
};

struct sigmoid {
  static constexpr float_map vectors = float_map::sigmoid;
  template <class T>
  T operator()(T x) const {
    return T(1) / (T(1) + std::exp(-x));
  }
};
struct hard_sigmoid : with_attributes {
  static constexpr float_map vectors = float_map::hard_sigmoid;
  using with_attributes::with_attributes;
  template <class T>
  T operator()(T x) const {
    const T y = T(p.a) * x + T(p.b);
    return y < T(0) ? T(0) : y > T(1) ? T(1) : y;
  }
};
struct leaky_relu : with_attributes {
  static constexpr float_map vectors = float_map::leaky_relu;
  using with_attributes::with_attributes;
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? T(p.a) * x : x;
  }
};
struct elu : with_attributes {
  using with_attributes::with_attributes;
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? T(p.a) * std::expm1(x) : x;
  }
};
struct selu : with_attributes {
  using with_attributes::with_attributes;
  template <class T>
  T operator()(T x) const {
    return T(p.b) * (x > T(0) ? x : T(p.a) * std::expm1(x));
  }
};
struct celu : with_attributes {
  using with_attributes::with_attributes;
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? T(p.a) * std::expm1(x / T(p.a)) : x;
  }
};
struct softplus {
  template <class T>
  T operator()(T x) const {
    return x > T(0) ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  }
};
struct softsign {
  template <class T>
  T operator()(T x) const {
    return x / (T(1) + std::abs(x));
  }
};
struct thresholded_relu : with_attributes {
  using with_attributes::with_attributes;
  template <class T>
  T operator()(T x) const {
    return x > T(p.a) ? x : T(0);  // NaN is not above: 0
  }
};
struct hard_swish {
  static constexpr float_map vectors = float_map::hard_swish;
  template <class T>
  T operator()(T x) const {
    const T gate = x / T(6) + T(0.5);
    return x * (gate < T(0) ? T(0) : gate > T(1) ? T(1) : gate);
  }
};
struct mish {
  template <class T>
  T operator()(T x) const {
    return x * std::tanh(softplus{}(x));
  }
};
struct gelu {
  static constexpr float_map vectors = float_map::gelu;
  template <class T>
  T operator()(T x) const {
    return T(0.5) * x * (T(1) + std::erf(x * T(0.70710678118654752440)));
  }
};
struct gelu_by_tanh {
  static constexpr float_map vectors = float_map::gelu_by_tanh;
  template <class T>
  T operator()(T x) const {
    return T(0.5) * x * (T(1) + std::tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
  }
};
struct swish : with_attributes {
  static constexpr float_map vectors = float_map::swish;
  using with_attributes::with_attributes;
  template <class T>
  T operator()(T x) const {
    return x * sigmoid{}(T(p.a) * x);
  }
};

}  // namespace

template <>
result<unary_choice> choose_map<op::Sigmoid>(const bind_context& c) {
  return unary_choice{find_float_row<sigmoid>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::HardSigmoid>(const bind_context& c) {
  return unary_choice{find_float_row<hard_sigmoid>(c.inputs[0].type),
                      {c.float_or("alpha", 0.2f), c.float_or("beta", 0.5f)}};
}
template <>
result<unary_choice> choose_map<op::LeakyRelu>(const bind_context& c) {
  return unary_choice{find_float_row<leaky_relu>(c.inputs[0].type), {c.float_or("alpha", 0.01f)}};
}
template <>
result<unary_choice> choose_map<op::Elu>(const bind_context& c) {
  return unary_choice{find_float_row<elu>(c.inputs[0].type), {c.float_or("alpha", 1.0f)}};
}
template <>
result<unary_choice> choose_map<op::Celu>(const bind_context& c) {
  return unary_choice{find_float_row<celu>(c.inputs[0].type), {c.float_or("alpha", 1.0f)}};
}
template <>
result<unary_choice> choose_map<op::Softplus>(const bind_context& c) {
  return unary_choice{find_float_row<softplus>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Softsign>(const bind_context& c) {
  return unary_choice{find_float_row<softsign>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::ThresholdedRelu>(const bind_context& c) {
  return unary_choice{find_float_row<thresholded_relu>(c.inputs[0].type), {c.float_or("alpha", 1.0f)}};
}
template <>
result<unary_choice> choose_map<op::HardSwish>(const bind_context& c) {
  return unary_choice{find_float_row<hard_swish>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Mish>(const bind_context& c) {
  return unary_choice{find_float_row<mish>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Swish>(const bind_context& c) {
  return unary_choice{find_float_row<swish>(c.inputs[0].type), {c.float_or("alpha", 1.0f)}};
}
template <>
result<unary_choice> choose_map<op::microsoft::Gelu>(const bind_context& c) {
  return unary_choice{find_float_row<gelu>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::microsoft::QuickGelu>(const bind_context& c) {
  return unary_choice{find_float_row<swish>(c.inputs[0].type), {c.float_or("alpha", 1.702f)}};
}
template <>
result<unary_choice> choose_map<op::Selu>(const bind_context& c) {
  const bool first = c.since < 6;  // which had fewer digits
  const float alpha = c.float_or("alpha", first ? 1.6732f : 1.67326319217681884765625f);
  const float gamma = c.float_or("gamma", first ? 1.0507f : 1.05070102214813232421875f);
  return unary_choice{find_float_row<selu>(c.inputs[0].type), {alpha, gamma}};
}
template <>
result<unary_choice> choose_map<op::Gelu>(const bind_context& c) {
  const std::string_view approximate = c.string_or("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return status{status_code::invalid_graph, "approximate must be none or tanh"};
  const dtype type = c.inputs[0].type;
  return unary_choice{approximate == "tanh" ? find_float_row<gelu_by_tanh>(type) : find_float_row<gelu>(type), {}};
}

template struct unary<op::Sigmoid>;
template struct unary<op::HardSigmoid>;
template struct unary<op::LeakyRelu>;
template struct unary<op::Elu>;
template struct unary<op::Celu>;
template struct unary<op::Softplus>;
template struct unary<op::Softsign>;
template struct unary<op::ThresholdedRelu>;
template struct unary<op::HardSwish>;
template struct unary<op::Mish>;
template struct unary<op::Swish>;
template struct unary<op::microsoft::Gelu>;
template struct unary<op::microsoft::QuickGelu>;
template struct unary<op::Selu>;
template struct unary<op::Gelu>;

}  // namespace cameo::inline CAMEO_ABI::eps
