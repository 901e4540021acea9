#pragma once
#include <cameo/op/onnx.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "as_element.hpp"
#include "float_rows.hpp"
#include "form.hpp"

// The functions of reductions, a struct for each operator: a state, and how an element of type T is added to it.
namespace CAMEO_NAMESPACE::eps {

/// How an operator reduces many numbers to one: `state` (default: of no elements), take(state&, T), merge(state&, const
/// state&), T result(const state&, count), and optionally T of_row(x, count) for contiguous rows. float16 and bfloat16
/// are passed as float, bool as truth.
template <class Op, class T>
struct fold;

/// The type of a sum: 64-bit integers, which wrap around, for integers; double for float and double.
template <class T>
using accumulator = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

/// Truncates toward zero and saturates if T is an integer; NaN becomes 0.
template <class T>
T number_from(double x) {
  return as_element<T>(x);
}

/// A sum in S of a function of each element.
template <class S>
struct sum_fold {
  struct state {
    S sum = 0;
  };
  static void merge(state& into, const state& from) { into.sum += from.sum; }
};
template <class T>
struct fold<op::ReduceSum, T> : sum_fold<accumulator<T>> {
  using state = typename sum_fold<accumulator<T>>::state;
  static void take(state& s, T x) { s.sum += accumulator<T>(x); }
  static T result(const state& s, std::int64_t) { return T(s.sum); }
  static T of_row(const float* x, std::int64_t n)
    requires std::is_same_v<T, float>
  {
    return float(sum_row(x, n));
  }
};
template <class T>
struct fold<op::ReduceMean, T> : fold<op::ReduceSum, T> {
  static T of_row(const float* x, std::int64_t n)
    requires std::is_same_v<T, float>
  {
    return float(sum_row(x, n) / double(n));
  }
  static T result(const typename fold<op::ReduceSum, T>::state& s, std::int64_t count) {
    if constexpr (!std::is_integral_v<T>) return T(s.sum / double(count));
    else if constexpr (std::is_signed_v<T>) return count ? T(std::int64_t(s.sum) / count) : T(0);
    else return count ? T(s.sum / std::uint64_t(count)) : T(0);
  }
};
template <class T>
struct fold<op::ReduceL1, T> : sum_fold<accumulator<T>> {
  using state = typename sum_fold<accumulator<T>>::state;
  static void take(state& s, T x) {
    if constexpr (std::is_floating_point_v<T>) s.sum += std::abs(double(x));
    else s.sum += x < T(0) ? accumulator<T>(0) - accumulator<T>(x) : accumulator<T>(x);
  }
  static T result(const state& s, std::int64_t) { return T(s.sum); }
};
template <class T>
struct fold<op::ReduceSumSquare, T> : sum_fold<accumulator<T>> {
  using state = typename sum_fold<accumulator<T>>::state;
  static void take(state& s, T x) { s.sum += accumulator<T>(x) * accumulator<T>(x); }
  static T result(const state& s, std::int64_t) { return T(s.sum); }
};

/// The following reductions give fractions, and are summed in double for every type.
template <class T>
struct fold<op::ReduceL2, T> : sum_fold<double> {
  static void take(state& s, T x) { s.sum += double(x) * double(x); }
  static T result(const state& s, std::int64_t) { return number_from<T>(std::sqrt(s.sum)); }
};
template <class T>
struct fold<op::ReduceLogSum, T> : sum_fold<double> {
  static void take(state& s, T x) { s.sum += double(x); }
  static T result(const state& s, std::int64_t) { return number_from<T>(std::log(s.sum)); }
};
/// The sum is relative to the largest exponent so far, so that nothing overflows.
template <class T>
struct fold<op::ReduceLogSumExp, T> {
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
struct fold<op::ReduceProd, T> {
  struct state {
    accumulator<T> value = 1;
  };
  static void take(state& s, T x) { s.value *= accumulator<T>(x); }
  static void merge(state& into, const state& from) { into.value *= from.value; }
  static T result(const state& s, std::int64_t) { return T(s.value); }
};

/// The lowest (Least) or the highest value of a type, infinities included: the state of no elements.
template <class T, bool Least>
constexpr T end_of() {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, truth>) return truth{!Least};
  else if constexpr (std::is_floating_point_v<T>) return Least ? -limits::infinity() : limits::infinity();
  else return Least ? limits::min() : limits::max();
}
template <class T>
T clean(T x) {
  if constexpr (std::is_same_v<T, truth>) return truth(is_true(x));
  else return x;
}

/// The largest or the smallest number; NaN is propagated.
template <class T, bool Largest>
struct extreme {
  struct state {
    T value = end_of<T, Largest>();
  };
  static void take(state& s, T x) {
    const bool stays = Largest ? s.value >= clean(x) : s.value <= clean(x);
    s.value = stays || s.value != s.value ? s.value : clean(x);
  }
  static void merge(state& into, const state& from) { take(into, from.value); }
  static T result(const state& s, std::int64_t) { return s.value; }
};
template <class T>
struct fold<op::ReduceMax, T> : extreme<T, true> {};
template <class T>
struct fold<op::ReduceMin, T> : extreme<T, false> {};

}  // namespace CAMEO_NAMESPACE::eps
