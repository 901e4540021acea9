// Operators for which no other runtime is a reference: windows of states, products of float8, training steps in double.
#include <cameo/eps/cpu/integer_matmul.hpp>
#include <cameo/eps/cpu/linear_attention.hpp>
#include <cameo/eps/cpu/optimizers.hpp>
#include <cameo/op/microsoft.hpp>

#include <doctest/doctest.h>

#include <cmath>

#include "kernel_rig.hpp"

using namespace cameo;
using cameo::test::kernel_rig;
using cameo::test::near;
using cameo::test::random_numbers;

TEST_CASE("states of the last positions are the last ones of shorter calls, and zeros before the first") {
  std::mt19937 random{5};
  constexpr std::int64_t length = 3, window = 5, size = 2, width = 4;
  const auto q = random_numbers<float>(random, length * size), k = random_numbers<float>(random, length * size);
  const auto v = random_numbers<float>(random, length * width), beta = random_numbers<float>(random, length);
  const auto attend = [&](kernel_rig& rig, std::int64_t count, std::int64_t states) {
    rig.checked_as<op::microsoft::LinearAttention>();
    rig.attribute("q_num_heads", std::int64_t{1}).attribute("kv_num_heads", std::int64_t{1});
    rig.attribute("update_rule", "delta").attribute("state_window", states);
    rig.input<float>({1, count, size}, q).input<float>({1, count, size}, k).input<float>({1, count, width}, v);
    rig.no_input().no_input().input<float>({1, count, 1}, beta);
    return rig.run<eps::linear_attention>({dtype::f32, dtype::f32});
  };
  kernel_rig all{1};
  REQUIRE(attend(all, length, window));
  REQUIRE(all.output_value(1).shape == extents{window, 1, 1, size, width});
  for (std::int64_t slot = 0; slot < window; ++slot) {
    std::vector<double> want(std::size_t(size * width), 0.0);
    if (const std::int64_t count = length - window + slot + 1; count > 0) {
      kernel_rig part{1};
      REQUIRE(attend(part, count, 0));
      for (std::size_t i = 0; i < want.size(); ++i) want[i] = double(part.output<float>(1)[i]);
    }
    const extents one{size, width};
    CHECK(near<float>({all.output<float>(1).data() + slot * size * width, one}, want));
  }
}

TEST_CASE("a causal convolution keeps the inputs before each of the last positions, also with channels last") {
  std::mt19937 random{6};
  constexpr std::int64_t length = 3, window = 4, channels = 2, taps = 3;
  const auto x = random_numbers<float>(random, length * channels), w = random_numbers<float>(random, channels * taps);
  kernel_rig rig{1};
  rig.checked_as<op::microsoft::CausalConvWithState>();
  rig.attribute("state_window", window).attribute("channels_last", std::int64_t{1});
  rig.input<float>({1, length, channels}, x).input<float>({channels, 1, taps}, w);
  REQUIRE(rig.run<eps::causal_conv>({dtype::f32, dtype::f32}));
  REQUIRE(rig.output_value(1).shape == extents{window, 1, taps - 1, channels});
  for (std::int64_t slot = 0; slot < window; ++slot)
    for (std::int64_t i = 0; i < taps - 1; ++i)
      for (std::int64_t ch = 0; ch < channels; ++ch) {
        const std::int64_t end = length - window + slot, at = end - (taps - 2) + i;  // `end`: of the slot
        const float want = end >= 0 && at >= 0 ? x[std::size_t(at * channels + ch)] : 0;
        CHECK(rig.output<float>(1)[(slot * (taps - 1) + i) * channels + ch] == want);
      }
}

TEST_CASE_TEMPLATE("products of float8 are those of the numbers that they represent", T, float8e4m3fn, float8e4m3fnuz,
                   float8e5m2, float8e5m2fnuz) {
  std::mt19937 random{7};
  constexpr std::int64_t m = 3, k = 4, n = 2;
  const auto a = random_numbers<T>(random, m * k), b = random_numbers<T>(random, k * n);
  const std::vector<float> a_scale{0.5f}, b_scale{0.25f, 2}, y_scale{0.125f};
  const std::vector<T> none{T(0.0f)}, zeros{T(0.0f), T(0.0f)};
  kernel_rig rig{21};
  rig.input({m, k}, a).input({}, a_scale).input({}, none).input({k, n}, b).input({n}, b_scale).input({n}, zeros);
  rig.input({}, y_scale).input({}, none);
  REQUIRE(rig.run<eps::qlinear_matmul_of_codes>({dtype_of<T>}));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int64_t l = 0; l < k; ++l)
        sum += float(a[std::size_t(i * k + l)]) * 0.5f * (float(b[std::size_t(l * n + j)]) * b_scale[std::size_t(j)]);
      CHECK(rig.output<T>(0)[i * n + j] == T(sum / 0.125f));
    }
}

TEST_CASE("a product of float8 that is too large becomes the largest number") {
  const std::vector<float8e4m3fn> one{float8e4m3fn(448.0f)}, zero{float8e4m3fn(0.0f)};
  const std::vector<float> scale{1};
  kernel_rig rig{21};
  for (int i = 0; i < 2; ++i) rig.coded({1, 1}, one, scale, zero);
  rig.scale_and_zero(scale, zero);
  REQUIRE(rig.run<eps::qlinear_matmul_of_codes>({dtype::f8e4m3fn}));
  CHECK(float(rig.output<float8e4m3fn>(0)[0]) == 448.0f);
}

TEST_CASE("Adam corrects its means by the count of updates, in double if the tensors are double") {
  const std::vector<double> rate{0.1}, x{1, -2}, g{0.5, 0.25}, v{0.1, -0.1}, h{0.2, 0.3};
  for (const std::int64_t updates : {std::int64_t{0}, std::int64_t{3}}) {
    const std::vector<std::int64_t> count{updates};
    kernel_rig rig{1};
    rig.attribute("alpha", 0.5f).attribute("beta", 0.75f).attribute("epsilon", 0.0f);
    rig.attribute("norm_coefficient", 0.25f).attribute("norm_coefficient_post", 0.5f);
    rig.input<double>({}, rate).input<std::int64_t>({}, count);
    for (const std::vector<double>* one : {&x, &g, &v, &h}) rig.input<double>({2}, *one);
    REQUIRE(rig.run<eps::optimizer_of<op::training::Adam>>({dtype::f64, dtype::f64, dtype::f64}));
    const double r = updates ? 0.1 * std::sqrt(1 - std::pow(0.75, 3)) / (1 - std::pow(0.5, 3)) : 0.1;
    for (std::size_t i = 0; i < 2; ++i) {
      const double step = 0.25 * x[i] + g[i], mean = 0.5 * v[i] + 0.5 * step,
                   squares = 0.75 * h[i] + 0.25 * step * step;
      CHECK(rig.output<double>(0)[i] == doctest::Approx(0.5 * (x[i] - r * mean / std::sqrt(squares))).epsilon(1e-12));
      CHECK(rig.output<double>(1)[i] == doctest::Approx(mean).epsilon(1e-12));
      CHECK(rig.output<double>(2)[i] == doctest::Approx(squares).epsilon(1e-12));
    }
  }
}
