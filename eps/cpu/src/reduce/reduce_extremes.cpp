#include <cameo/eps/cpu/detail/number_sets.hpp>

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
  return extreme_elements::visit(type, reduce_state::row_function{}, []<class T>(std::type_identity<T>) {
    using C = std::conditional_t<std::is_same_v<T, bool>, truth, computed_in<T>>;
    return reduce_rows<F<C>, C>;
  });
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
