#include "reduce_rows.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

/// An element of a bool tensor: a file may hold other bytes than 0 and 1.
enum class truth : std::uint8_t {};
template <class T>
constexpr T least() {
  if constexpr (std::is_same_v<T, truth>) return truth{0};
  else if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::min();
}
template <class T>
constexpr T most() {
  if constexpr (std::is_same_v<T, truth>) return truth{1};
  else if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::max();
}
template <class T>
T clean(T x) {
  if constexpr (std::is_same_v<T, truth>) return truth(x != truth{0});
  else return x;
}

template <class T>
struct largest {
  struct state {
    T value = least<T>();
  };
  static void take(state& s, T x) { s.value = s.value >= clean(x) || s.value != s.value ? s.value : clean(x); }
  static void merge(state& into, const state& from) { take(into, from.value); }
  static T result(const state& s, std::int64_t) { return s.value; }
};
template <class T>
struct smallest {
  struct state {
    T value = most<T>();
  };
  static void take(state& s, T x) { s.value = s.value <= clean(x) || s.value != s.value ? s.value : clean(x); }
  static void merge(state& into, const state& from) { take(into, from.value); }
  static T result(const state& s, std::int64_t) { return s.value; }
};

/// float16 and bfloat16 come as float.
template <template <class> class F>
reduce_state::row_function extreme(dtype type) {
  switch (type) {
    case dtype::f32:
    case dtype::f16:
    case dtype::bf16: return reduce_rows<F<float>, float>;
    case dtype::f64: return reduce_rows<F<double>, double>;
    case dtype::i8: return reduce_rows<F<std::int8_t>, std::int8_t>;
    case dtype::u8: return reduce_rows<F<std::uint8_t>, std::uint8_t>;
    case dtype::i32: return reduce_rows<F<std::int32_t>, std::int32_t>;
    case dtype::i64: return reduce_rows<F<std::int64_t>, std::int64_t>;
    case dtype::u32: return reduce_rows<F<std::uint32_t>, std::uint32_t>;
    case dtype::u64: return reduce_rows<F<std::uint64_t>, std::uint64_t>;
    case dtype::boolean: return reduce_rows<F<truth>, truth>;
    default: return nullptr;
  }
}

}  // namespace

template <>
reduce_state::row_function reduction_for<op::ReduceMax>(dtype type) {
  return extreme<largest>(type);
}
template <>
reduce_state::row_function reduction_for<op::ReduceMin>(dtype type) {
  return extreme<smallest>(type);
}

}  // namespace cameo::inline CAMEO_ABI::eps
