#include <cameo/op/onnx.hpp>

#include <cmath>

#include <detail/float_rows.hpp>

#include "binary_rows.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

template <float_pair F>
struct on_floats {
  static void vectors(const float* a, std::int64_t a_step, const float* b, std::int64_t b_step, float* out,
                      std::int64_t n) {
    pair_floats(F, a, a_step, b, b_step, out, n);
  }
};
struct add : on_floats<float_pair::add> {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) return T(wrapping<T>(a) + wrapping<T>(b));
    else return a + b;
  }
};
struct subtract : on_floats<float_pair::subtract> {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) return T(wrapping<T>(a) - wrapping<T>(b));
    else return a - b;
  }
};
struct multiply : on_floats<float_pair::multiply> {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) return T(wrapping<T>(a) * wrapping<T>(b));
    else return a * b;
  }
};
/// Integers truncate; the smallest one divided by -1 wraps to itself. b is not 0.
struct divide : on_floats<float_pair::divide> {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      if (b == T(-1)) return T(wrapping<T>(0) - wrapping<T>(a));
    }
    return T(a / b);
  }
};
/// What is left has the sign of a.
struct remainder_of_truncation {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if constexpr (std::is_signed_v<T>)
        if (b == T(-1)) return 0;
      return T(a % b);
    } else {
      return std::fmod(a, b);
    }
  }
};
/// What is left has the sign of b.
struct remainder_of_floor {
  template <class T>
  T operator()(T a, T b) const {
    const T rest = remainder_of_truncation{}(a, b);
    if constexpr (std::is_floating_point_v<T>) {
      if (rest == 0) return std::copysign(rest, b);
      return (rest < 0) != (b < 0) ? rest + b : rest;
    } else {
      return rest != 0 && (rest < 0) != (b < 0) ? T(rest + b) : rest;
    }
  }
};
struct leak {
  template <class T>
  T operator()(T x, T slope) const {
    return x < T(0) ? multiply{}(x, slope) : x;
  }
};

bool is_integer(dtype type) { return (bit_of(type) & integer_elements::mask) != 0; }

}  // namespace

template <>
result<binary_choice> choose_row<op::Add>(const bind_context& c) {
  return binary_choice{find_binary_row<number_elements, add>(c.inputs[0].type)};
}
template <>
result<binary_choice> choose_row<op::Sub>(const bind_context& c) {
  return binary_choice{find_binary_row<number_elements, subtract>(c.inputs[0].type)};
}
template <>
result<binary_choice> choose_row<op::Mul>(const bind_context& c) {
  return binary_choice{find_binary_row<number_elements, multiply>(c.inputs[0].type)};
}
template <>
result<binary_choice> choose_row<op::Div>(const bind_context& c) {
  const dtype type = c.inputs[0].type;
  return binary_choice{find_binary_row<number_elements, divide>(type), 0, is_integer(type)};
}
template <>
result<binary_choice> choose_row<op::Mod>(const bind_context& c) {
  const dtype type = c.inputs[0].type;
  const bool truncates = c.int_or("fmod", 0) != 0;
  if (!truncates && !is_integer(type) && c.since < 28)
    return status{status_code::invalid_graph, "Mod of floating point needs fmod = 1 before opset 28"};
  const binary_row row = truncates ? find_binary_row<number_elements, remainder_of_truncation>(type)
                                   : find_binary_row<number_elements, remainder_of_floor>(type);
  return binary_choice{row, 0, is_integer(type)};
}
template <>
result<binary_choice> choose_row<op::PRelu>(const bind_context& c) {
  const binary_row row = find_binary_row<large_number_elements, leak>(c.inputs[0].type);
  return binary_choice{row, 0, false,
                       c.since < 7 ? binary_state::alignment::channel : binary_state::alignment::to_first};
}

template struct binary<op::Add>;
template struct binary<op::Sub>;
template struct binary<op::Mul>;
template struct binary<op::Div>;
template struct binary<op::Mod>;
template struct binary<op::PRelu>;

}  // namespace cameo::inline CAMEO_ABI::eps
