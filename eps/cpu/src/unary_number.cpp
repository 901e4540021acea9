#include <cmath>
#include <limits>

#include "unary_rows.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

/// Unsigned and no narrower than int: where integers wrap.
template <class T>
using wrapping = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

struct negative {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) return T(wrapping<T>(0) - wrapping<T>(x));
    else return -x;
  }
};
struct absolute {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) return std::abs(x);
    else return x < T(0) ? negative{}(x) : x;
  }
};
struct sign_of {
  template <class T>
  T operator()(T x) const {
    return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
  }
};
struct relu_of {
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? T(0) : x;
  }
};
/// Of a byte of a bool tensor: a file may hold others than 0 and 1.
struct opposite {
  std::uint8_t operator()(std::uint8_t x) const { return x == 0; }
};
struct flipped {
  template <class T>
  T operator()(T x) const {
    return T(~x);
  }
};
struct is_nan {
  template <class T>
  bool operator()(T x) const {
    return x != x;
  }
};
/// a, b: whether negative and positive infinities count.
struct is_infinite {
  bool negative_counts, positive_counts;
  explicit is_infinite(const unary_parameters& p) : negative_counts{p.a != 0}, positive_counts{p.b != 0} {}
  template <class T>
  bool operator()(T x) const {
    return (negative_counts && x == -std::numeric_limits<T>::infinity()) ||
           (positive_counts && x == std::numeric_limits<T>::infinity());
  }
};
/// a: bias, b: lambd. Integers compute in double and end where their type ends.
struct shrunk {
  unary_parameters p;
  explicit shrunk(const unary_parameters& from) : p{from} {}
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      if (double(x) >= -double(p.b) && double(x) <= double(p.b)) return 0;
      const double y = double(x) + (double(x) > double(p.b) ? -double(p.a) : double(p.a));
      constexpr auto low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
      return y <= double(low) ? low : y >= double(high) ? high : y == y ? T(y) : T(0);
    } else {
      return x < T(-p.b) ? x + T(p.a) : x > T(p.b) ? x - T(p.a) : T(0);  // of NaN, too
    }
  }
};

}  // namespace

template <>
result<unary_choice> choose_map<op::Abs>(const bind_context& c) {
  return unary_choice{find_unary_row<number_elements, absolute>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Neg>(const bind_context& c) {
  return unary_choice{find_unary_row<signed_elements, negative>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Sign>(const bind_context& c) {
  return unary_choice{find_unary_row<number_elements, sign_of>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Relu>(const bind_context& c) {
  return unary_choice{find_unary_row<signed_elements, relu_of>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::Not>(const bind_context&) {
  return unary_choice{map_row<opposite, std::uint8_t, std::uint8_t>, {}};
}
template <>
result<unary_choice> choose_map<op::BitwiseNot>(const bind_context& c) {
  return unary_choice{find_unary_row<integer_elements, flipped>(c.inputs[0].type), {}};
}
template <>
result<unary_choice> choose_map<op::IsNaN>(const bind_context& c) {
  return unary_choice{find_unary_row<any_float_elements, is_nan, bool>(c.inputs[0].type), {}, 1};
}
template <>
result<unary_choice> choose_map<op::IsInf>(const bind_context& c) {
  const unary_parameters which{float(c.int_or("detect_negative", 1)), float(c.int_or("detect_positive", 1))};
  return unary_choice{find_unary_row<any_float_elements, is_infinite, bool>(c.inputs[0].type), which, 1};
}
template <>
result<unary_choice> choose_map<op::Shrink>(const bind_context& c) {
  return unary_choice{find_unary_row<number_elements, shrunk>(c.inputs[0].type),
                      {c.float_or("bias", 0.0f), c.float_or("lambd", 0.5f)}};
}

template struct unary<op::Abs>;
template struct unary<op::Neg>;
template struct unary<op::Sign>;
template struct unary<op::Relu>;
template struct unary<op::Not>;
template struct unary<op::BitwiseNot>;
template struct unary<op::IsNaN>;
template struct unary<op::IsInf>;
template struct unary<op::Shrink>;

}  // namespace cameo::inline CAMEO_ABI::eps
