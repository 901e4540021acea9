#include <cameo/core/checked.hpp>

#include <doctest/doctest.h>

#include <limits>

namespace cameo::test {
namespace {

/// Returns how many sums and products of pairs of 8-bit numbers are wrong, compared with int, in the built-in and in
/// the portable implementation.
template <class T>
int wrong_pairs() {
  int wrong = 0;
  const auto check = [&](int exact, bool (*compute)(T, T, T&), T a, T b) {
    T value{};
    const bool should = exact >= std::numeric_limits<T>::min() && exact <= std::numeric_limits<T>::max();
    const bool fits = compute(a, b, value);
    wrong += fits != should || (fits && value != T(exact));
  };
  for (int i = std::numeric_limits<T>::min(); i <= std::numeric_limits<T>::max(); ++i)
    for (int j = std::numeric_limits<T>::min(); j <= std::numeric_limits<T>::max(); ++j) {
      const T a = T(i), b = T(j);
      check(i * j, checked_multiply<T>, a, b);
      check(i * j, detail::portable_checked<T>::multiply, a, b);
      check(i + j, checked_add<T>, a, b);
      check(i + j, detail::portable_checked<T>::add, a, b);
    }
  return wrong;
}

template <class T>
int wrong_at_the_ends() {
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  const T all[] = {least, T(least + 1), T(least / 2),    T(-1),       T(0), T(1),
                   T(2),  T(most / 2),  T(most / 2 + 1), T(most - 1), most};
  int wrong = 0;
  for (const T a : all)
    for (const T b : all) {
      T one{}, other{};
      const bool product = checked_multiply(a, b, one);
      wrong += product != detail::portable_checked<T>::multiply(a, b, other) || (product && one != other);
      const bool sum = checked_add(a, b, one);
      wrong += sum != detail::portable_checked<T>::add(a, b, other) || (sum && one != other);
    }
  return wrong;
}

}  // namespace

TEST_CASE("checked products and sums are exact or refused, with and without the compiler's own functions") {
  CHECK(wrong_pairs<std::int8_t>() == 0);
  CHECK(wrong_pairs<std::uint8_t>() == 0);
  CHECK(wrong_at_the_ends<std::int64_t>() == 0);
  CHECK(wrong_at_the_ends<std::uint64_t>() == 0);
}

}  // namespace cameo::test
