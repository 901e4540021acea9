#include <cmath>

#include "unary_rows.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

struct reciprocal {
  static constexpr float_map vectors = float_map::reciprocal;
  template <class T>
  T operator()(T x) const {
    return T(1) / x;
  }
};
struct square_root {
  static constexpr float_map vectors = float_map::sqrt;
  template <class T>
  T operator()(T x) const {
    return std::sqrt(x);
  }
};
struct exponential {
  static constexpr float_map vectors = float_map::exp;
  template <class T>
  T operator()(T x) const {
    return std::exp(x);
  }
};
struct logarithm {
  template <class T>
  T operator()(T x) const {
    return std::log(x);
  }
};
struct sine {
  template <class T>
  T operator()(T x) const {
    return std::sin(x);
  }
};
struct cosine {
  template <class T>
  T operator()(T x) const {
    return std::cos(x);
  }
};
struct tangent {
  template <class T>
  T operator()(T x) const {
    return std::tan(x);
  }
};
struct arc_sine {
  template <class T>
  T operator()(T x) const {
    return std::asin(x);
  }
};
struct arc_cosine {
  template <class T>
  T operator()(T x) const {
    return std::acos(x);
  }
};
struct arc_tangent {
  template <class T>
  T operator()(T x) const {
    return std::atan(x);
  }
};
struct hyperbolic_sine {
  template <class T>
  T operator()(T x) const {
    return std::sinh(x);
  }
};
struct hyperbolic_cosine {
  template <class T>
  T operator()(T x) const {
    return std::cosh(x);
  }
};
struct hyperbolic_tangent {
  static constexpr float_map vectors = float_map::tanh;
  template <class T>
  T operator()(T x) const {
    return std::tanh(x);
  }
};
struct area_sine {
  template <class T>
  T operator()(T x) const {
    return std::asinh(x);
  }
};
struct area_cosine {
  template <class T>
  T operator()(T x) const {
    return std::acosh(x);
  }
};
struct area_tangent {
  template <class T>
  T operator()(T x) const {
    return std::atanh(x);
  }
};
struct floor_of {
  template <class T>
  T operator()(T x) const {
    return std::floor(x);
  }
};
struct ceiling {
  template <class T>
  T operator()(T x) const {
    return std::ceil(x);
  }
};
struct half_to_even {
  template <class T>
  T operator()(T x) const {
    return std::nearbyint(x);
  }
};
/// Of integers too, as opset 9 has it: then cut towards zero.
struct error_function {
  static constexpr float_map vectors = float_map::erf;
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) return T(std::erf(double(x)));
    else return std::erf(x);
  }
};

}  // namespace

template <>
result<unary_choice> choose_map<op::Reciprocal>(const bind_context& c) {
  return unary_choice{find_float_row<reciprocal>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Sqrt>(const bind_context& c) {
  return unary_choice{find_float_row<square_root>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Exp>(const bind_context& c) {
  return unary_choice{find_float_row<exponential>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Log>(const bind_context& c) {
  return unary_choice{find_float_row<logarithm>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Sin>(const bind_context& c) {
  return unary_choice{find_float_row<sine>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Cos>(const bind_context& c) {
  return unary_choice{find_float_row<cosine>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Tan>(const bind_context& c) {
  return unary_choice{find_float_row<tangent>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Asin>(const bind_context& c) {
  return unary_choice{find_float_row<arc_sine>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Acos>(const bind_context& c) {
  return unary_choice{find_float_row<arc_cosine>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Atan>(const bind_context& c) {
  return unary_choice{find_float_row<arc_tangent>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Sinh>(const bind_context& c) {
  return unary_choice{find_float_row<hyperbolic_sine>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Cosh>(const bind_context& c) {
  return unary_choice{find_float_row<hyperbolic_cosine>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Tanh>(const bind_context& c) {
  return unary_choice{find_float_row<hyperbolic_tangent>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Asinh>(const bind_context& c) {
  return unary_choice{find_float_row<area_sine>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Acosh>(const bind_context& c) {
  return unary_choice{find_float_row<area_cosine>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Atanh>(const bind_context& c) {
  return unary_choice{find_float_row<area_tangent>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Floor>(const bind_context& c) {
  return unary_choice{find_float_row<floor_of>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Ceil>(const bind_context& c) {
  return unary_choice{find_float_row<ceiling>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Round>(const bind_context& c) {
  return unary_choice{find_float_row<half_to_even>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Erf>(const bind_context& c) {
  return unary_choice{find_unary_row<number_elements, error_function>(c.inputs[0].type), {}};
}

template struct unary<op::Reciprocal>;
template struct unary<op::Sqrt>;
template struct unary<op::Exp>;
template struct unary<op::Log>;
template struct unary<op::Sin>;
template struct unary<op::Cos>;
template struct unary<op::Tan>;
template struct unary<op::Asin>;
template struct unary<op::Acos>;
template struct unary<op::Atan>;
template struct unary<op::Sinh>;
template struct unary<op::Cosh>;
template struct unary<op::Tanh>;
template struct unary<op::Asinh>;
template struct unary<op::Acosh>;
template struct unary<op::Atanh>;
template struct unary<op::Floor>;
template struct unary<op::Ceil>;
template struct unary<op::Round>;
template struct unary<op::Erf>;

}  // namespace cameo::inline CAMEO_ABI::eps
