#include <cameo/eps/cpu/arg_extreme.hpp>
#include <cameo/eps/cpu/axis_normalization.hpp>
#include <cameo/eps/cpu/cumulative.hpp>
#include <cameo/eps/cpu/reduce.hpp>

#include "kernel_rig.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace cameo;
using cameo::eps::arg_extreme;
using cameo::eps::axis_normalization;
using cameo::eps::cumulative;
using cameo::eps::reduce;
using cameo::test::infinity;
using cameo::test::ints;
using cameo::test::kernel_rig;

namespace {

/// f over the elements that contribute to each output when the axes in the bit set `gone` are reduced.
template <class F>
std::vector<double> reduce_plainly(const extents& shape, const std::vector<float>& x, std::uint32_t gone, F f) {
  std::int64_t outputs = 1;
  for (std::size_t a = 0; a < shape.rank(); ++a) outputs *= gone >> a & 1 ? 1 : shape[a];
  std::vector<std::vector<double>> sets(static_cast<std::size_t>(outputs));
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::int64_t rest = std::int64_t(i), at = 0, stride = 1;
    for (std::size_t a = shape.rank(); a-- > 0; rest /= shape[a])
      if (!(gone >> a & 1)) at += rest % shape[a] * stride, stride *= shape[a];
    sets[std::size_t(at)].push_back(double(x[i]));
  }
  std::vector<double> out;
  for (const std::vector<double>& set : sets) out.push_back(f(set));
  return out;
}

template <class Op, class F>
void compare_reduction(F f) {
  std::mt19937 random{5};
  for (int round = 0; round < 60; ++round) {
    extents shape;
    const std::size_t rank = random() % 6;
    for (std::size_t a = 0; a < rank; ++a) shape.push_back(std::int64_t(random() % (a + 1 == rank ? 600 : 5) + 1));
    const auto x = test::random_numbers<float>(random, shape.count());
    ints axes;
    std::uint32_t gone = 0;
    for (std::size_t a = 0; a < rank; ++a)
      if (random() % 2)
        gone |= 1u << a, axes.push_back(random() % 2 ? std::int64_t(a) : std::int64_t(a) - std::int64_t(rank));
    kernel_rig rig{18, 1 + random() % 3};
    rig.attribute("noop_with_empty_axes", std::int64_t{1}).attribute("keepdims", std::int64_t(random() % 2));
    rig.input(shape, x).input({std::int64_t(axes.size())}, axes);
    REQUIRE(rig.run<reduce<Op>>({dtype::f32}));
    CHECK(test::near(rig.output<float>(0), reduce_plainly(shape, x, gone, f)));
  }
}

template <class Op, class T>
T over_nothing() {
  kernel_rig rig{20};
  const std::vector<T> none;
  const ints axes{1};
  rig.input({2, 0}, none).input({1}, axes);
  REQUIRE(rig.run<reduce<Op>>({dtype_of<T>}));
  CHECK(rig.output<T>(0).shape() == extents{2, 1});
  CHECK(rig.output<T>(0)[0] == rig.output<T>(0)[1]);
  return rig.output<T>(0)[0];
}

}  // namespace

TEST_CASE("reductions over random axes of random shapes equal plain loops") {
  compare_reduction<op::ReduceSum>([](const auto& s) {
    double sum = 0;
    for (double x : s) sum += x;
    return sum;
  });
  compare_reduction<op::ReduceMax>([](const auto& s) { return *std::max_element(s.begin(), s.end()); });
  compare_reduction<op::ReduceLogSumExp>([](const auto& s) {
    double sum = 0;
    for (double x : s) sum += std::exp(x);
    return std::log(sum);
  });
  compare_reduction<op::ReduceL2>([](const auto& s) {
    double sum = 0;
    for (double x : s) sum += x * x;
    return std::sqrt(sum);
  });
}

TEST_CASE("reductions over no elements give the neutral element") {
  CHECK(over_nothing<op::ReduceSum, float>() == 0);
  CHECK(over_nothing<op::ReduceProd, std::int32_t>() == 1);
  CHECK(over_nothing<op::ReduceMax, float>() == -infinity);
  CHECK(over_nothing<op::ReduceMin, std::int64_t>() == std::numeric_limits<std::int64_t>::max());
  CHECK(over_nothing<op::ReduceLogSumExp, double>() == double(-infinity));
  CHECK(over_nothing<op::ReduceMean, std::int32_t>() == 0);
}

TEST_CASE("infinities, NaN and large numbers pass through LogSumExp, Max and Min") {
  const std::vector<float> x{-infinity, -infinity, 1000, 1000, infinity, 1, NAN, 1};
  kernel_rig exponents{13}, largest{13};
  exponents.attribute("axes", ints{1}).input({4, 2}, x);
  REQUIRE(exponents.run<reduce<op::ReduceLogSumExp>>({dtype::f32}));
  const auto y = exponents.output<float>(0);
  CHECK(y[0] == -infinity);
  CHECK(y[1] == doctest::Approx(1000 + std::log(2.0)));
  CHECK(y[2] == infinity);
  CHECK(std::isnan(y[3]));
  largest.attribute("axes", ints{1}).input({4, 2}, x);
  REQUIRE(largest.run<reduce<op::ReduceMax>>({dtype::f32}));
  CHECK(std::isnan(largest.output<float>(0)[3]));
}

TEST_CASE("axes that do not exist or occur twice are INVALID_ARGUMENT") {
  const std::vector<float> x{1, 2, 3, 4};
  for (const ints& axes : {ints{2}, ints{-3}, ints{0, -2}, ints{std::numeric_limits<std::int64_t>::min()}}) {
    kernel_rig rig{18};
    rig.input({2, 2}, x).input({std::int64_t(axes.size())}, axes);
    CHECK(rig.run<reduce<op::ReduceMean>>({dtype::f32}).code() == status_code::invalid_argument);
    kernel_rig arg{13}, sum{14};
    arg.attribute("axis", axes.size() == 1 ? axes[0] : 5).input({2, 2}, x);
    CHECK(arg.run<arg_extreme<op::ArgMax>>({dtype::i64}).code() == status_code::invalid_argument);
    sum.checked_as<op::CumSum>().input({2, 2}, x).input({std::int64_t(axes.size())}, axes);
    CHECK(sum.run<cumulative<op::CumSum>>({dtype::f32}).code() == status_code::invalid_argument);
  }
}

TEST_CASE("ArgMax of an empty axis is INVALID_ARGUMENT, except without outputs") {
  const std::vector<float> none;
  kernel_rig empty_axis{13}, empty{13};
  empty_axis.attribute("axis", std::int64_t{1}).input({2, 0}, none);
  CHECK(empty_axis.run<arg_extreme<op::ArgMax>>({dtype::i64}).code() == status_code::invalid_argument);
  CHECK(empty.attribute("axis", std::int64_t{0}).input({2, 0}, none).run<arg_extreme<op::ArgMax>>({dtype::i64}));
}

TEST_CASE("running sums: exclusive, reverse, both, and wrapping") {
  const std::vector<std::int32_t> x{1, 2, 3, std::numeric_limits<std::int32_t>::max()};
  const std::vector<std::int32_t> axis{-1};
  const auto run = [&](std::int64_t exclusive, std::int64_t reverse) {
    kernel_rig rig{14};
    rig.attribute("exclusive", exclusive).attribute("reverse", reverse).input({4}, x).input({}, axis);
    REQUIRE(rig.run<cumulative<op::CumSum>>({dtype::i32}));
    return test::elements_of<std::int32_t>(rig);
  };
  constexpr std::int32_t top = std::numeric_limits<std::int32_t>::max(), low = std::numeric_limits<std::int32_t>::min();
  CHECK(run(0, 0) == std::vector<std::int32_t>{1, 3, 6, low + 5});
  CHECK(run(1, 0) == std::vector<std::int32_t>{0, 1, 3, 6});
  CHECK(run(0, 1) == std::vector<std::int32_t>{low + 5, low + 4, low + 2, top});
  CHECK(run(1, 1) == std::vector<std::int32_t>{low + 4, low + 2, top, 0});
}

TEST_CASE("Softmax flattens before opset 13, and sums to one along any axis") {
  std::mt19937 random{9};
  const extents shape{3, 4, 70};
  const auto x = test::random_numbers<float>(random, shape.count());
  kernel_rig flat{11}, middle{13};
  REQUIRE(flat.input(shape, x).run<axis_normalization<op::Softmax>>({dtype::f32}));
  for (int r = 0; r < 3; ++r) {
    double sum = 0;
    for (int i = 0; i < 280; ++i) sum += double(flat.output<float>(0)[r * 280 + i]);
    CHECK(sum == doctest::Approx(1).epsilon(1e-5));
  }
  REQUIRE(
      middle.attribute("axis", std::int64_t{-2}).input(shape, x).run<axis_normalization<op::Softmax>>({dtype::f32}));
  for (int i = 0; i < 70; ++i) {
    double sum = 0;
    for (int r = 0; r < 4; ++r) sum += double(middle.output<float>(0)[280 + r * 70 + i]);
    CHECK(sum == doctest::Approx(1).epsilon(1e-5));
  }
}
