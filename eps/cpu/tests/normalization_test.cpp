#include <cameo/eps/cpu/axis_normalization.hpp>
#include <cameo/eps/cpu/batch_normalization.hpp>
#include <cameo/eps/cpu/group_normalization.hpp>
#include <cameo/eps/cpu/layer_normalization.hpp>
#include <cameo/eps/cpu/lrn.hpp>
#include <cameo/eps/cpu/mean_variance_normalization.hpp>
#include <cameo/op/onnx.hpp>

#include "kernel_rig.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace cameo;
using namespace cameo::eps;
using cameo::test::floats;
using cameo::test::kernel_rig;

namespace {

const floats scale{2, 3}, bias{0.5f, -1}, mean{1, -1}, variance{4, 0.25f};

}  // namespace

TEST_CASE("constant statistics are folded when the kernel is bound, with the same outputs") {
  std::mt19937 random{2};
  const extents shape{2, 2, 37};
  const auto x = test::random_numbers<float>(random, shape.count());
  for (const bool constant : {false, true}) {
    kernel_rig rig{15, 2};
    rig.input(shape, x).input({2}, scale, constant).input({2}, bias, constant);
    rig.input({2}, mean, constant).input({2}, variance, constant);
    REQUIRE(rig.run<batch_normalization>({dtype::f32}));
    std::vector<double> want;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = i / 37 % 2;
      want.push_back((double(x[i]) - double(mean[c])) / std::sqrt(double(variance[c]) + 1e-5) * double(scale[c]) +
                     double(bias[c]));
    }
    CHECK(test::near(rig.output<float>(0), want));
  }
}

TEST_CASE("training normalizes a batch with its statistics and updates the running ones") {
  const floats x{1, 3, 10, 20, 5, 7, 30, 40};  // [2, 2, 2]
  kernel_rig rig{15};
  rig.attribute("training_mode", std::int64_t{1}).attribute("momentum", 0.5f).attribute("epsilon", 0.0f);
  rig.input({2, 2, 2}, x).input({2}, scale).input({2}, bias).input({2}, mean).input({2}, variance);
  REQUIRE(rig.run<batch_normalization>({dtype::f32, dtype::f32, dtype::f32}));
  CHECK(test::near(rig.output<float>(1), {0.5 * 1 + 0.5 * 4, 0.5 * -1 + 0.5 * 25}));
  CHECK(test::near(rig.output<float>(2), {0.5 * 4 + 0.5 * 5, 0.5 * 0.25 + 0.5 * 125}));
  CHECK(rig.output<float>(0)[0] == doctest::Approx((1 - 4) / std::sqrt(5.0) * 2 + 0.5));
}

TEST_CASE("before opset 9 each element can be a channel; statistics of the wrong size are INVALID_ARGUMENT") {
  const floats x{1, 2, 3, 4}, ones{1, 1}, zeros{0, 0};
  kernel_rig each{7}, wrong{15}, scalar{15};
  each.attribute("spatial", std::int64_t{0}).attribute("epsilon", 0.0f);
  each.input({2, 1, 2}, x).input({1, 2}, ones).input({1, 2}, zeros).input({1, 2}, ones).input({1, 2}, ones);
  REQUIRE(each.run<batch_normalization>({dtype::f32}));
  CHECK(test::near(each.output<float>(0), {0, 1, 2, 3}));
  wrong.input({1, 4}, x).input({2}, ones).input({2}, zeros).input({2}, zeros).input({2}, ones);
  CHECK(wrong.run<batch_normalization>({dtype::f32}).code() == status_code::invalid_argument);
  const floats one{1};
  scalar.input({}, one).input({1}, one).input({1}, one).input({1}, one).input({1}, one);
  scalar.checked_as<op::BatchNormalization>();
  CHECK(scalar.run<batch_normalization>({dtype::f32}).code() == status_code::invalid_argument);
}

TEST_CASE("normalized rows have mean 0 and variance 1, whatever their offset, also in float16") {
  std::mt19937 random{4};
  floats x = test::random_numbers<float>(random, 5 * 300);
  for (float& v : x) v += 1000;
  const floats ones(300, 1.0f);
  kernel_rig rig{17, 2};
  rig.input({5, 300}, x).input({300}, ones);
  REQUIRE(rig.run<layer_normalization<op::LayerNormalization>>({dtype::f32, dtype::f32, dtype::f32}));
  CHECK(rig.output<float>(1).shape() == extents{5, 1});
  for (int r = 0; r < 5; ++r) {
    double sum = 0, squares = 0;
    for (int i = 0; i < 300; ++i) {
      const auto v = double(rig.output<float>(0)[r * 300 + i]);
      sum += v, squares += v * v;
    }
    CHECK(std::abs(sum / 300) < 1e-3);
    CHECK(squares / 300 == doctest::Approx(1).epsilon(1e-3));
  }
  std::vector<float16> half, unit(300, float16{1.0f});
  for (float v : x) half.push_back(float16{v - 1000});
  kernel_rig narrow{17};
  narrow.input({5, 300}, half).input({300}, unit);
  REQUIRE(narrow.run<layer_normalization<op::LayerNormalization>>({dtype::f16, dtype::undefined, dtype::undefined}));
}

TEST_CASE("a scale broadcasts to the normalized axes or to all of X, or is refused") {
  const floats x{1, 2, 3, 4, 5, 6, 7, 8}, one{2}, per_row{1, 10}, two{1, 1}, three{1, 1, 1};
  const auto run = [&](const extents& shape, const floats& s, floats& out) {
    kernel_rig rig{23};
    rig.attribute("axis", std::int64_t{1}).input({2, 2, 2}, x).input(shape, s);
    status ran = rig.run<layer_normalization<op::RMSNormalization>>({dtype::f32});
    if (ran) out.assign(rig.output<float>(0).begin(), rig.output<float>(0).end());
    return ran;
  };
  floats a, b, c;
  REQUIRE(run({1}, one, a));
  REQUIRE(run({2, 1, 1}, per_row, b));
  REQUIRE(run({2}, two, c));
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(a[i] == doctest::Approx(2 * c[i]));
    CHECK(b[i] == doctest::Approx((i < 4 ? 1 : 10) * c[i]));
  }
  CHECK(run({3}, three, a).code() == status_code::invalid_argument);
}

TEST_CASE("a constant group has no variance and a zero vector no norm, and there is no division by zero") {
  const floats flat(12, 7.0f), zeros(6, 0.0f);
  kernel_rig group{21}, vector{1};
  group.attribute("num_groups", std::int64_t{1}).input({1, 2, 6}, flat).input({2}, scale).input({2}, bias);
  REQUIRE(group.run<group_normalization<op::GroupNormalization>>({dtype::f32}));
  CHECK(group.output<float>(0)[0] == doctest::Approx(0.5));
  CHECK(group.output<float>(0)[11] == doctest::Approx(-1));
  REQUIRE(vector.input({2, 3}, zeros).run<axis_normalization<op::LpNormalization>>({dtype::f32}));
  CHECK(vector.output<float>(0)[5] == 0);
}

TEST_CASE("impossible attributes are INVALID_GRAPH, groups that do not divide INVALID_ARGUMENT") {
  const floats x(6, 1.0f);
  kernel_rig none{21}, uneven{21}, norm{1}, window{13}, huge{13};
  none.attribute("num_groups", std::int64_t{0}).input({1, 2, 3}, x).input({2}, scale).input({2}, bias);
  for (kernel_rig* each : {&none, &uneven}) each->checked_as<op::GroupNormalization>();
  CHECK(none.run<group_normalization<op::GroupNormalization>>({dtype::f32}).code() == status_code::invalid_graph);
  uneven.attribute("num_groups", std::int64_t{2}).input({1, 3, 2}, x).input({2}, scale).input({2}, bias);
  CHECK(uneven.run<group_normalization<op::GroupNormalization>>({dtype::f32}).code() == status_code::invalid_argument);
  norm.checked_as<op::LpNormalization>().attribute("p", std::int64_t{3}).input({6}, x);
  CHECK(norm.run<axis_normalization<op::LpNormalization>>({dtype::f32}).code() == status_code::invalid_graph);
  window.checked_as<op::LRN>().attribute("size", std::int64_t{-1}).input({1, 6}, x);
  CHECK(window.run<lrn>({dtype::f32}).code() == status_code::invalid_graph);
  huge.attribute("size", std::numeric_limits<std::int64_t>::max()).input({1, 6}, x);
  CHECK(huge.run<lrn>({dtype::f32}));
}

TEST_CASE("a tensor without elements is normalized to an empty one") {
  const floats none, empty_scale;
  kernel_rig batch{15}, layer{17}, variances{13};
  batch.input({0, 2, 3}, none).input({2}, scale).input({2}, bias).input({2}, mean).input({2}, variance);
  CHECK(batch.run<batch_normalization>({dtype::f32}));
  layer.input({4, 0}, none).input({0}, empty_scale);
  CHECK(layer.run<layer_normalization<op::LayerNormalization>>({dtype::f32, dtype::f32, dtype::f32}));
  CHECK(variances.input({0, 2, 3, 1}, none).run<mean_variance_normalization>({dtype::f32}));
}
