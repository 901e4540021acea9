#include <cameo/eps/cpu/axis_normalization.hpp>
#include <cameo/eps/cpu/bias_gelu.hpp>
#include <cameo/eps/cpu/binary.hpp>
#include <cameo/eps/cpu/unary.hpp>

#include "each_target.hpp"
#include "kernel_rig.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace cameo;
using namespace cameo::eps;
using cameo::test::floats;
using cameo::test::for_each_target;
using cameo::test::infinity;
using cameo::test::kernel_rig;

namespace {

/// The error in units in the last place of a T of the magnitude of `want`; 1e9 if only one of the two is NaN, or if the
/// sign of a zero or an infinity is wrong.
template <class T>
double ulps(long double want, T got) {
  constexpr double wrong = 1e9;
  constexpr int digits = std::numeric_limits<T>::digits, least = std::numeric_limits<T>::min_exponent - digits;
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : wrong;
  if ((std::isinf(got) || got == 0) && std::signbit(want) != std::signbit(got)) return wrong;
  if (std::isinf(got)) return std::abs(want) >= std::numeric_limits<T>::max() ? 0 : wrong;
  int exponent = 0;
  std::frexp(want, &exponent);
  return double(std::abs(got - want) / std::ldexp(1.0L, std::max(exponent - digits, least)));
}

/// Numeric attributes of the operator.
using settings = std::vector<std::pair<std::string_view, float>>;

template <class Op, class T>
std::vector<T> run_unary(const std::vector<T>& x, std::size_t lanes = 1, const settings& set = {}, int since = 20) {
  kernel_rig rig{since, lanes};
  for (const auto& [name, f] : set) rig.attribute(name, f);
  REQUIRE(rig.input({std::int64_t(x.size())}, x).template run<unary<Op>>({dtype_of<T>}));
  return test::elements_of<T>(rig);
}

/// Numbers of all magnitudes and both signs, and the special ones.
template <class T>
std::vector<T> numbers_of_all_sizes() {
  using limits = std::numeric_limits<T>;
  using bits_type = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::vector<T> x{
      T(0),          -T(0),          T(1),          T(-1),          limits::infinity(), -limits::infinity(),
      limits::max(), -limits::max(), limits::min(), -limits::min(), limits::quiet_NaN()};
  const auto add = [&](bits_type bits) {
    T f = 0;
    std::memcpy(&f, &bits, sizeof f);
    x.push_back(f);
  };
#ifdef CAMEO_SINGLE_TARGET  // a sanitizer's build, or an emulated processor
  constexpr int samples = 1 << 14;
#else
  constexpr int samples = 1 << 18;
#endif
  for (bits_type i = 0; i < samples; ++i) add(i * (std::numeric_limits<bits_type>::max() / samples | 1));
  // Most doubles are outside the range in which the functions vary.
  if constexpr (sizeof(T) == 8)
    for (int i = -samples / 4; i < samples / 4; ++i) {
      const T part = T(i) / T(samples / 4);
      x.push_back(part * part * part * T(25000));
    }
  return x;
}

/// The largest error over numbers of all magnitudes, from `least` on.
template <class Op, class T = float, class F>
double worst(F exact, T least = -std::numeric_limits<T>::infinity(), const settings& set = {}) {
  std::vector<T> x = numbers_of_all_sizes<T>();
  std::erase_if(x, [&](T f) { return f < least; });
  const std::vector<T> y = run_unary<Op, T>(x, 1, set);
  double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, ulps(exact(static_cast<long double>(x[i])), y[i]));
  return most;
}

double exact_gelu(double x) { return x * 0.5 * std::erfc(-x * 0.70710678118654752440); }

std::vector<double> exact_softmax(const floats& x, std::size_t rows, bool log) {
  std::vector<double> y;
  const std::size_t n = rows ? x.size() / rows : 0;
  for (std::size_t r = 0; r < rows; ++r) {
    double most = -HUGE_VAL, sum = 0;
    for (std::size_t i = 0; i < n; ++i) most = std::max(most, double(x[r * n + i]));
    for (std::size_t i = 0; i < n; ++i) sum += std::exp(double(x[r * n + i]) - most);
    for (std::size_t i = 0; i < n; ++i) {
      const double power = double(x[r * n + i]) - most;
      y.push_back(log ? power - std::log(sum) : std::exp(power) / sum);
    }
  }
  return y;
}

}  // namespace

namespace {

/// Each unary function, other than plain arithmetic, against the C library in long double.
template <class T>
void errors_are_small() {
  using real = std::conditional_t<sizeof(T) == 4, double, long double>;
  const auto softplus = [](real x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::abs(x))); };
  const T least = -std::numeric_limits<T>::infinity();
  CHECK(worst<op::Exp, T>([](real x) { return std::exp(x); }) < 1.2);
  CHECK(worst<op::Erf, T>([](real x) { return std::erf(x); }) < (sizeof(T) == 4 ? 1.4 : 3.5));
  CHECK(worst<op::Tanh, T>([](real x) { return std::tanh(x); }) < 4);
  CHECK(worst<op::Sigmoid, T>([](real x) { return 1 / (1 + std::exp(-x)); }) < 4);
  CHECK(worst<op::Sqrt, T>([](real x) { return std::sqrt(x); }) <= 0.5);
  CHECK(worst<op::Reciprocal, T>([](real x) { return 1 / x; }) <= 0.5);
  CHECK(worst<op::Log, T>([](real x) { return std::log(x); }) < 4);
  CHECK(worst<op::Sin, T>([](real x) { return std::sin(x); }) < 4);
  CHECK(worst<op::Cos, T>([](real x) { return std::cos(x); }) < 4);
  CHECK(worst<op::Tan, T>([](real x) { return std::tan(x); }) < 6);
  CHECK(worst<op::Asin, T>([](real x) { return std::asin(x); }) < 4);
  CHECK(worst<op::Acos, T>([](real x) { return std::acos(x); }) < 4);
  CHECK(worst<op::Atan, T>([](real x) { return std::atan(x); }) < 4);
  CHECK(worst<op::Sinh, T>([](real x) { return std::sinh(x); }) < 4);
  CHECK(worst<op::Cosh, T>([](real x) { return std::cosh(x); }) < 4);
  CHECK(worst<op::Asinh, T>([](real x) { return std::asinh(x); }) < 4);
  CHECK(worst<op::Acosh, T>([](real x) { return std::acosh(x); }) < 4);
  CHECK(worst<op::Atanh, T>([](real x) { return std::atanh(x); }) < 4);
  CHECK(worst<op::Softplus, T>(softplus) < 5);
  CHECK(worst<op::Mish, T>([&](real x) { return x * std::tanh(softplus(x)); }, T(-80)) < 8);
  CHECK(worst<op::Elu, T>([](real x) { return x < 0 ? real(0.7f) * std::expm1(x) : x; }, least, {{"alpha", 0.7f}}) < 5);
  CHECK(worst<op::Celu, T>([](real x) { return x < 0 ? real(0.7f) * std::expm1(x / real(0.7f)) : x; }, least,
                           {{"alpha", 0.7f}}) < 6);
  CHECK(worst<op::Floor, T>([](real x) { return std::floor(x); }) == 0);
  CHECK(worst<op::Ceil, T>([](real x) { return std::ceil(x); }) == 0);
  CHECK(worst<op::Round, T>([](real x) { return std::nearbyint(x); }) == 0);
}

}  // namespace

TEST_CASE("vector functions have at most their documented errors, on every instruction set") {
  for_each_target([] {
    errors_are_small<float>();
    errors_are_small<double>();
    CHECK(worst<op::Gelu>([](long double x) { return exact_gelu(double(x)); }, -0.5f) < 6);
    CHECK(worst<op::Gelu, double>([](long double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0L)); }, -0.5) < 6);
  });
}

TEST_CASE("gelu approaches zero on the left; of minus infinity it is NaN, as in ONNX Runtime") {
  for_each_target([] {
    floats x;
    for (float v = -200; v < -0.5f; v += 0.01f) x.push_back(v);
    const floats y = run_unary<op::Gelu, float>(x);
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::abs(double(y[i]) - exact_gelu(double(x[i]))) < 2e-7);
    CHECK(std::isnan(run_unary<op::Gelu, float>({-infinity})[0]));
  });
}

TEST_CASE("the result for an element depends neither on its position nor on threads: tails of every width") {
  std::mt19937 random{3};
  for_each_target([&] {
    const floats x = test::random_numbers<float>(random, 40000);
    const floats whole = run_unary<op::Gelu, float>(x), threads = run_unary<op::Gelu, float>(x, 3);
    CHECK(whole == threads);
    for (std::ptrdiff_t n = 0; n <= 70; ++n) {
      const floats part = run_unary<op::Gelu, float>(floats{x.begin() + 1, x.begin() + 1 + n});
      CHECK(std::equal(part.begin(), part.end(), whole.begin() + 1));
    }
  });
}

TEST_CASE("gelu with a bias, exact and by tanh, of rows of every width") {
  std::mt19937 random{4};
  for_each_target([&] {
    for (std::int64_t n = 1; n <= 40; ++n) {
      const floats x = test::random_numbers<float>(random, 3 * n), bias = test::random_numbers<float>(random, n);
      std::vector<double> exact, by_tanh;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double v = double(x[i]) + double(bias[i % std::size_t(n)]);
        exact.push_back(exact_gelu(v));
        by_tanh.push_back(v * 0.5 * (1 + std::tanh(0.79788456080286535588 * (v + 0.044715 * v * v * v))));
      }
      kernel_rig one{1}, other{1};
      one.input({3, n}, x).input({n}, bias), other.input({3, n}, x).input({n}, bias);
      REQUIRE(one.run<bias_gelu<op::microsoft::BiasGelu>>({dtype::f32}));
      REQUIRE(other.run<bias_gelu<op::microsoft::FastGelu>>({dtype::f32}));
      CHECK(test::near(one.output<float>(0), exact, 1e-6));
      CHECK(test::near(other.output<float>(0), by_tanh, 1e-6));
    }
  });
}

TEST_CASE("softmax and its logarithm of rows of every width, and along other axes") {
  std::mt19937 random{5};
  for_each_target([&] {
    for (std::int64_t n = 1; n <= 150; n += n < 40 ? 1 : 11) {
      floats x = test::random_numbers<float>(random, 5 * n);
      for (float& v : x) v *= 20;
      kernel_rig one{13, 1}, two{13, 3}, log{13};
      REQUIRE(one.input({5, n}, x).run<axis_normalization<op::Softmax>>({dtype::f32}));
      REQUIRE(two.input({5, n}, x).run<axis_normalization<op::Softmax>>({dtype::f32}));
      REQUIRE(log.input({5, n}, x).run<axis_normalization<op::LogSoftmax>>({dtype::f32}));
      CHECK(test::near(one.output<float>(0), exact_softmax(x, 5, false), 2e-6));
      CHECK(test::near(log.output<float>(0), exact_softmax(x, 5, true), 2e-6));
      CHECK(std::equal(one.output<float>(0).begin(), one.output<float>(0).end(), two.output<float>(0).begin()));
      kernel_rig along{13, 2};
      floats turned;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t r = 0; r < 5; ++r) turned.push_back(x[std::size_t(r * n + i)]);
      along.attribute("axis", std::int64_t{0}).input({n, 5}, turned);
      REQUIRE(along.run<axis_normalization<op::Softmax>>({dtype::f32}));
      for (std::int64_t i = 0; i < 5 * n; ++i)
        CHECK(std::abs(along.output<float>(0)[i % n * 5 + i / n] - one.output<float>(0)[i]) < 1e-5f);
    }
  });
}

TEST_CASE("softmax of a row of -infinity is NaN; beside other numbers -infinity gives 0") {
  for_each_target([] {
    const floats x{-infinity, -infinity, -infinity, 1, -infinity, 1};
    kernel_rig rig{13};
    REQUIRE(rig.input({2, 3}, x).run<axis_normalization<op::Softmax>>({dtype::f32}));
    const auto y = rig.output<float>(0);
    CHECK(std::isnan(y[0]));
    CHECK(y[3] == 0.5f);
    CHECK(y[4] == 0);
  });
}

TEST_CASE("sums, differences, products and quotients of rows of every width, with either operand broadcast") {
  std::mt19937 random{6};
  for_each_target([&] {
    for (std::int64_t n = 1; n <= 40; ++n) {
      const floats x = test::random_numbers<float>(random, 2 * n), y = test::random_numbers<float>(random, n);
      const floats one{0.75f};
      const auto check = [&]<class K>(std::type_identity<K>, auto f) {
        kernel_rig rows{14}, right{14}, left{14};
        REQUIRE(rows.input({2, n}, x).input({n}, y).template run<K>({dtype::f32}));
        REQUIRE(right.input({2, n}, x).input({}, one).template run<K>({dtype::f32}));
        REQUIRE(left.input({1}, one).input({2, n}, x).template run<K>({dtype::f32}));
        for (std::int64_t i = 0; i < 2 * n; ++i) {
          const float a = x[std::size_t(i)];
          CHECK(rows.output<float>(0)[i] == f(a, y[std::size_t(i % n)]));
          CHECK(right.output<float>(0)[i] == f(a, 0.75f));
          CHECK(left.output<float>(0)[i] == f(0.75f, a));
        }
      };
      check(std::type_identity<binary<op::Add>>{}, [](float a, float b) { return a + b; });
      check(std::type_identity<binary<op::Sub>>{}, [](float a, float b) { return a - b; });
      check(std::type_identity<binary<op::Mul>>{}, [](float a, float b) { return a * b; });
      check(std::type_identity<binary<op::Div>>{}, [](float a, float b) { return a / b; });
    }
  });
}
