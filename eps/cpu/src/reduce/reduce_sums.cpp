#include <cmath>

#include "common/float_rows.hpp"

#include <cameo/eps/cpu/detail/number_sets.hpp>

#include "reduce_rows.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

/// Sums of something of each element.
template <class T>
struct summing {
  struct state {
    accumulator<T> sum = 0;
  };
  static void merge(state& into, const state& from) { into.sum += from.sum; }
};
template <class T>
struct sum : summing<T> {
  using state = typename summing<T>::state;
  static void take(state& s, T x) { s.sum += accumulator<T>(x); }
  static T result(const state& s, std::int64_t) { return T(s.sum); }
  static T of_row(const float* x, std::int64_t n) requires std::is_same_v<T, float> { return float(sum_row(x, n)); }
};
template <class T>
struct mean : sum<T> {
  static T of_row(const float* x, std::int64_t n) requires std::is_same_v<T, float> {
    return float(sum_row(x, n) / double(n));
  }
  static T result(const typename sum<T>::state& s, std::int64_t count) {
    if constexpr (!std::is_integral_v<T>) return T(s.sum / double(count));
    else if constexpr (std::is_signed_v<T>) return count ? T(std::int64_t(s.sum) / count) : T(0);
    else return count ? T(s.sum / std::uint64_t(count)) : T(0);
  }
};
template <class T>
struct sum_of_magnitudes : summing<T> {
  using state = typename summing<T>::state;
  static void take(state& s, T x) {
    if constexpr (std::is_floating_point_v<T>) s.sum += std::abs(double(x));
    else s.sum += x < T(0) ? accumulator<T>(0) - accumulator<T>(x) : accumulator<T>(x);
  }
  static T result(const state& s, std::int64_t) { return T(s.sum); }
};
template <class T>
struct sum_of_squares : summing<T> {
  using state = typename summing<T>::state;
  static void take(state& s, T x) { s.sum += accumulator<T>(x) * accumulator<T>(x); }
  static T result(const state& s, std::int64_t) { return T(s.sum); }
};

/// What is no integer is summed in double, whatever the type.
template <class T>
struct root_of_squares {
  struct state {
    double sum = 0;
  };
  static void take(state& s, T x) { s.sum += double(x) * double(x); }
  static void merge(state& into, const state& from) { into.sum += from.sum; }
  static T result(const state& s, std::int64_t) { return number_from<T>(std::sqrt(s.sum)); }
};
template <class T>
struct logarithm_of_sum {
  struct state {
    double sum = 0;
  };
  static void take(state& s, T x) { s.sum += double(x); }
  static void merge(state& into, const state& from) { into.sum += from.sum; }
  static T result(const state& s, std::int64_t) { return number_from<T>(std::log(s.sum)); }
};
/// The sum is kept relative to the largest exponent so far, so that nothing overflows.
template <class T>
struct logarithm_of_exponentials {
  struct state {
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  };
  static void take(state& s, T value) {
    const auto x = double(value);
    if (x > s.largest) {
      s.sum = s.sum * std::exp(s.largest - x) + 1;
      s.largest = x;
    } else {
      s.sum += x == s.largest ? 1.0 : std::exp(x - s.largest);
    }
  }
  static void merge(state& into, const state& from) {
    const double top = std::max(into.largest, from.largest);
    const auto scaled = [top](const state& s) { return s.largest == top ? s.sum : s.sum * std::exp(s.largest - top); };
    into.sum = scaled(into) + scaled(from);
    into.largest = top;
  }
  static T result(const state& s, std::int64_t) { return number_from<T>(std::log(s.sum) + s.largest); }
};
template <class T>
struct product {
  struct state {
    accumulator<T> value = 1;
  };
  static void take(state& s, T x) { s.value *= accumulator<T>(x); }
  static void merge(state& into, const state& from) { into.value *= from.value; }
  static T result(const state& s, std::int64_t) { return T(s.value); }
};

/// float16 and bfloat16 come as float.
template <template <class> class F>
reduce_state::row_function number_reduction(dtype type) {
  return large_number_elements::visit(type, reduce_state::row_function{}, []<class T>(std::type_identity<T>) {
    using C = computed_in<T>;
    return reduce_rows<F<C>, C>;
  });
}

}  // namespace

template <>
reduce_state::row_function reduction_for<op::ReduceSum>(dtype type) {
  return number_reduction<sum>(type);
}
template <>
reduce_state::row_function reduction_for<op::ReduceMean>(dtype type) {
  return number_reduction<mean>(type);
}
template <>
reduce_state::row_function reduction_for<op::ReduceL1>(dtype type) {
  return number_reduction<sum_of_magnitudes>(type);
}
template <>
reduce_state::row_function reduction_for<op::ReduceSumSquare>(dtype type) {
  return number_reduction<sum_of_squares>(type);
}
template <>
reduce_state::row_function reduction_for<op::ReduceL2>(dtype type) {
  return number_reduction<root_of_squares>(type);
}
template <>
reduce_state::row_function reduction_for<op::ReduceLogSum>(dtype type) {
  return number_reduction<logarithm_of_sum>(type);
}
template <>
reduce_state::row_function reduction_for<op::ReduceLogSumExp>(dtype type) {
  return number_reduction<logarithm_of_exponentials>(type);
}
template <>
reduce_state::row_function reduction_for<op::ReduceProd>(dtype type) {
  return number_reduction<product>(type);
}

}  // namespace cameo::inline CAMEO_ABI::eps
