// Random outputs: their shapes, types, seeds and distributions. Seeds are fixed, so that a test always has the same
// numbers; the bounds are five times what chance explains.
#include <cameo/eps/cpu/dropout.hpp>
#include <cameo/eps/cpu/random.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kernel_rig.hpp"

using namespace cameo;
using cameo::test::as_double;
using cameo::test::kernel_rig;

namespace {

constexpr std::int64_t many = 20000;

template <class T>
std::vector<double> numbers_in(const kernel_rig& rig, std::size_t output = 0) {
  std::vector<double> made;
  for (const T v : rig.output<T>(output)) made.push_back(as_double(v));
  return made;
}

/// The largest difference between the share of numbers below a value and the expected share (Kolmogorov-Smirnov).
template <class F>
double distance(std::vector<double> numbers, const F& share_below) {
  std::sort(numbers.begin(), numbers.end());
  double most = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double wanted = share_below(numbers[i]), n = double(numbers.size());
    most = std::max({most, std::abs(wanted - double(i) / n), std::abs(wanted - double(i + 1) / n)});
  }
  return most;
}

/// True if the observed share among n draws is plausible for the probability p.
bool likely(double share, double p, double n) { return std::abs(share - p) <= 5 * std::sqrt(p * (1 - p) / n) + 1e-9; }

template <class Op, class T>
std::vector<double> drawn(float seed, float first, float second, std::size_t lanes = 1) {
  constexpr bool is_normal = eps::random<Op>::is_normal;
  const std::vector<float> like(std::size_t(many), 0.0f);
  kernel_rig rig{1, lanes};
  rig.attribute("seed", seed).attribute(is_normal ? "mean" : "low", first);
  rig.attribute(is_normal ? "scale" : "high", second);
  if constexpr (eps::random<Op>::has_shape) rig.attribute("shape", std::vector<std::int64_t>{4, many / 4});
  else rig.input<float>({4, many / 4}, like);
  REQUIRE(rig.run<eps::random<Op>>({dtype_of<T>}));
  REQUIRE(rig.output_value(0).shape == extents{4, many / 4});
  return numbers_in<T>(rig);
}

template <class Op, class T>
void check_distribution() {
  constexpr bool is_normal = eps::random<Op>::is_normal;
  const float first = is_normal ? 1.5f : -2, second = is_normal ? 0.5f : 3;
  const std::vector<double> numbers = drawn<Op, T>(7, first, second);
  const auto share_below = [&](double x) {
    if (is_normal) return 0.5 * std::erfc(-(x - double(first)) / double(second) / std::sqrt(2.0));
    return std::clamp((x - double(first)) / double(second - first), 0.0, 1.0);
  };
  // Chance exceeds 2.0 / sqrt(n) once in a thousand times; narrow types have few numbers, so that many are equal.
  CHECK(distance(numbers, share_below) < 2.0 / std::sqrt(double(many)) + (sizeof(T) == 2 ? 0.01 : 0));
  if (!is_normal) {
    CHECK(*std::min_element(numbers.begin(), numbers.end()) >= double(first));
    CHECK(*std::max_element(numbers.begin(), numbers.end()) <= double(second));
  }
  CHECK(drawn<Op, T>(7, first, second, 4) == numbers);  // any number of threads
  CHECK(drawn<Op, T>(8, first, second) != numbers);
}

}  // namespace

TEST_CASE_TEMPLATE("random numbers are normal or uniform, equal for equal seeds and for any number of threads", T,
                   float, double, float16, bfloat16) {
  check_distribution<op::RandomNormal, T>();
  check_distribution<op::RandomNormalLike, T>();
  check_distribution<op::RandomUniform, T>();
  check_distribution<op::RandomUniformLike, T>();
}

TEST_CASE("adjacent random numbers are independent") {
  for (const bool is_normal : {false, true}) {
    const auto numbers =
        is_normal ? drawn<op::RandomNormal, double>(3, 0, 1) : drawn<op::RandomUniform, double>(3, -1, 1);
    for (const std::size_t apart : {1, 2, 64}) {
      double sum = 0, squares = 0;
      for (std::size_t i = 0; i + apart < numbers.size(); ++i)
        sum += numbers[i] * numbers[i + apart], squares += numbers[i] * numbers[i];
      CHECK(std::abs(sum / squares) < 5 / std::sqrt(double(many)));
    }
  }
}

TEST_CASE("without a seed each run draws other numbers") {
  std::set<double> firsts;
  for (int i = 0; i < 8; ++i) {
    kernel_rig rig{1};
    rig.attribute("shape", std::vector<std::int64_t>{2});
    REQUIRE(rig.run<eps::random<op::RandomUniform>>({dtype::f64}));
    firsts.insert(rig.output<double>(0)[0]);
  }
  CHECK(firsts.size() == 8);
}

TEST_CASE_TEMPLATE("Bernoulli gives ones with the probability of each element", T, float, double, std::int32_t,
                   std::uint8_t, bool) {
  for (const float chance : {0.0f, 0.25f, 0.9f, 1.0f}) {
    const std::vector<float> chances(std::size_t(many), chance);
    kernel_rig rig{15};
    rig.attribute("seed", 11.0f).input<float>({many}, chances);
    REQUIRE(rig.run<eps::random<op::Bernoulli>>({dtype_of<T>}));
    const std::vector<double> numbers = numbers_in<T>(rig);
    const auto ones = std::count(numbers.begin(), numbers.end(), 1.0);
    CHECK(ones + std::count(numbers.begin(), numbers.end(), 0.0) == many);
    CHECK(likely(double(ones) / many, double(chance), many));
  }
}

TEST_CASE_TEMPLATE("Multinomial draws each class with the probability of its weight", T, std::int32_t, std::int64_t) {
  const std::vector<float> weights{1, 2, 5, 0, 2, 0};  // two batches with three classes
  std::vector<float> logs;
  for (const float w : weights) logs.push_back(std::log(w));
  kernel_rig rig{7};
  rig.attribute("seed", 5.0f).attribute("sample_size", many).input<float>({2, 3}, logs);
  REQUIRE(rig.run<eps::random<op::Multinomial>>({dtype_of<T>}));
  REQUIRE(rig.output_value(0).shape == extents{2, many});
  const std::vector<double> classes = numbers_in<T>(rig);
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t k = 0; k < 3; ++k) {
      const auto begin = classes.begin() + std::ptrdiff_t(b * many);
      const double share = double(std::count(begin, begin + many, double(k))) / many;
      CHECK(likely(share, double(weights[b * 3 + k]) / (b ? 2 : 8), many));
    }
}

TEST_CASE_TEMPLATE("Dropout in training drops the share `ratio` by its seed, scales the rest and outputs the mask", T,
                   float, double, float16) {
  std::vector<T> x(std::size_t(many), T(1.0f));
  const std::vector<float> ratio{0.25f};
  const bool trains = true;
  const auto run = [&](kernel_rig& rig, std::int64_t seed) {
    rig.attribute("seed", seed).input({many}, x).input({}, ratio);
    rig.input(value::tensor<bool>({}, std::span<const bool>{&trains, 1}));
    return rig.run<eps::dropout>({dtype_of<T>, dtype::boolean});
  };
  kernel_rig first{13}, again{13}, other{13};
  REQUIRE(run(first, 3));
  REQUIRE(run(again, 3));
  REQUIRE(run(other, 4));
  std::int64_t kept = 0, differ = 0;
  for (std::int64_t i = 0; i < many; ++i) {
    const bool mask = first.output<bool>(1)[i];
    const double want = mask ? as_double(T(float(1 / 0.75))) : 0;
    if (std::abs(as_double(first.output<T>(0)[i]) - want) > 1e-6) ++differ;
    if (mask != again.output<bool>(1)[i]) ++differ;
    kept += mask;
  }
  CHECK(differ == 0);
  CHECK(likely(double(kept) / many, 0.75, many));
  CHECK(!std::equal(first.output<bool>(1).begin(), first.output<bool>(1).end(), other.output<bool>(1).begin()));
}
