#include <cameo/op/onnx.hpp>

#include "binary_rows.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

bool is_true(truth x) { return x != truth{}; }

struct both {
  bool operator()(truth a, truth b) const { return is_true(a) && is_true(b); }
};
struct either {
  bool operator()(truth a, truth b) const { return is_true(a) || is_true(b); }
};
struct one_alone {
  bool operator()(truth a, truth b) const { return is_true(a) != is_true(b); }
};

struct equal {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    if constexpr (std::is_same_v<T, truth>) return is_true(a) == is_true(b);
    else return a == b;
  }
};
struct less {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct less_or_equal {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
template <class F>
struct swapped {
  template <class T>
  bool operator()(T a, T b) const {
    return F{}(b, a);
  }
};

struct bits_and {
  template <class T>
  T operator()(T a, T b) const {
    return T(a & b);
  }
};
struct bits_or {
  template <class T>
  T operator()(T a, T b) const {
    return T(a | b);
  }
};
struct bits_xor {
  template <class T>
  T operator()(T a, T b) const {
    return T(a ^ b);
  }
};
/// Shifts by less than nothing or by the whole width leave what sign extension alone makes.
template <class T>
constexpr bool within_width(T shift) {
  return std::make_unsigned_t<T>(shift) < 8 * sizeof(T);  // a negative one is large
}
struct shift_left {
  template <class T>
  T operator()(T a, T by) const {
    return within_width(by) ? T(wrapping<T>(a) << by) : T(0);
  }
};
struct shift_right {
  template <class T>
  T operator()(T a, T by) const {
    if (within_width(by)) return T(a >> by);
    return a < T(0) ? T(-1) : T(0);
  }
};

template <class F>
binary_row bits_row(dtype type) {
  return find_binary_row<integer_elements, F>(type);
}
template <class F>
binary_row comparison_row(dtype type) {
  return find_binary_row<number_elements, F, bool>(type);
}

}  // namespace

template <>
result<binary_choice> choose_row<op::And>(const bind_context&) {
  return binary_choice{any_row<both, truth, bool>, 1};
}
template <>
result<binary_choice> choose_row<op::Or>(const bind_context&) {
  return binary_choice{any_row<either, truth, bool>, 1};
}
template <>
result<binary_choice> choose_row<op::Xor>(const bind_context&) {
  return binary_choice{any_row<one_alone, truth, bool>, 1};
}
template <>
result<binary_choice> choose_row<op::Less>(const bind_context& c) {
  return binary_choice{comparison_row<less>(c.inputs[0].type), 1};
}
template <>
result<binary_choice> choose_row<op::Greater>(const bind_context& c) {
  return binary_choice{comparison_row<swapped<less>>(c.inputs[0].type), 1};
}
template <>
result<binary_choice> choose_row<op::LessOrEqual>(const bind_context& c) {
  return binary_choice{comparison_row<less_or_equal>(c.inputs[0].type), 1};
}
template <>
result<binary_choice> choose_row<op::GreaterOrEqual>(const bind_context& c) {
  return binary_choice{comparison_row<swapped<less_or_equal>>(c.inputs[0].type), 1};
}
template <>
result<binary_choice> choose_row<op::BitwiseAnd>(const bind_context& c) {
  return binary_choice{bits_row<bits_and>(c.inputs[0].type)};
}
template <>
result<binary_choice> choose_row<op::BitwiseOr>(const bind_context& c) {
  return binary_choice{bits_row<bits_or>(c.inputs[0].type)};
}
template <>
result<binary_choice> choose_row<op::BitwiseXor>(const bind_context& c) {
  return binary_choice{bits_row<bits_xor>(c.inputs[0].type)};
}
template <>
result<binary_choice> choose_row<op::Equal>(const bind_context& c) {
  return binary_choice{find_binary_row<equal_elements, equal, bool>(c.inputs[0].type), 1};
}
template <>
result<binary_choice> choose_row<op::BitShift>(const bind_context& c) {
  const std::string_view direction = c.string_or("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return status{status_code::invalid_graph, "direction must be LEFT or RIGHT"};
  const dtype type = c.inputs[0].type;
  return binary_choice{direction == "LEFT" ? bits_row<shift_left>(type) : bits_row<shift_right>(type)};
}

template struct binary<op::And>;
template struct binary<op::Or>;
template struct binary<op::Xor>;
template struct binary<op::Less>;
template struct binary<op::Greater>;
template struct binary<op::LessOrEqual>;
template struct binary<op::GreaterOrEqual>;
template struct binary<op::BitwiseAnd>;
template struct binary<op::BitwiseOr>;
template struct binary<op::BitwiseXor>;
template struct binary<op::Equal>;
template struct binary<op::BitShift>;

}  // namespace cameo::inline CAMEO_ABI::eps
