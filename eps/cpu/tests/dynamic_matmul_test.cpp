#include <doctest/doctest.h>
#include <cameo/eps/cpu/dynamic_matmul.hpp>
#include <cameo/eps/cpu/quantize_linear.hpp>
#include <cameo/op/microsoft.hpp>

#include "each_target.hpp"
#include "kernel_rig.hpp"

namespace cameo::test {
namespace {

/// The right operand of a product of [stack, m, k] and [k, n] or [stack, k, n].
template <class T>
struct right_side {
  extents shape;
  std::vector<T> codes, zeros;
  std::vector<float> scales, bias;
  bool constant;
  right_side(std::mt19937& random, const extents& of, bool zero_per_column, bool scale_per_column, bool is_constant)
      : shape{of}, codes{random_codes<T>(random, of.count())}, constant{is_constant} {
    const std::int64_t n = of.back();
    zeros = random_codes<T>(random, zero_per_column ? n : 1);
    for (std::int64_t i = 0; i < (scale_per_column ? n : 1); ++i) scales.push_back(0.01f * float(1 + random() % 50));
    for (std::int64_t i = 0; i < n; ++i) bias.push_back(float(int(random() % 200) - 100) / 7);
  }
  extents columns(std::size_t count) const { return count == 1 ? extents{} : extents{std::int64_t(count)}; }
  float scale(std::size_t j) const { return scales[scales.size() == 1 ? 0 : j]; }
  int zero(std::size_t j) const { return zeros[zeros.size() == 1 ? 0 : j]; }
};

/// Y of the quantized A [stack * m, k], each step rounded as the operators define.
template <class A, class B>
std::vector<float> expected(const std::vector<A>& a, float a_scale, int a_zero, const right_side<B>& b,
                            std::int64_t m) {
  const std::int64_t n = b.shape.back(), k = b.shape[b.shape.rank() - 2];
  const bool stacked = b.shape.rank() > 2;
  std::vector<float> y;
  for (std::int64_t row = 0; row < std::int64_t(a.size()) / k; ++row)
    for (std::int64_t j = 0; j < n; ++j) {
      std::int32_t sum = 0;
      const std::int64_t matrix = stacked ? row / m * k * n : 0;
      for (std::int64_t l = 0; l < k; ++l)
        sum += (int(a[std::size_t(row * k + l)]) - a_zero) *
               (int(b.codes[std::size_t(matrix + l * n + j)]) - b.zero(std::size_t(j)));
      const float factor = a_scale * b.scale(std::size_t(j));
      const float scaled = float(sum) * factor;
      y.push_back(scaled + b.bias[std::size_t(j)]);
    }
  return y;
}

template <class A, class B>
void check_to_float(std::uint32_t seed) {
  std::mt19937 random{seed};
  const auto size = [&](int most) { return std::int64_t(1 + random() % unsigned(most)); };
  const std::int64_t stack = size(3), m = size(9), k = size(70), n = size(70);
  const bool stacked = random() % 3 == 0;
  const right_side<B> b{random, stacked ? extents{stack, k, n} : extents{k, n}, random() % 2 == 0, random() % 2 == 0,
                        random() % 2 == 0};
  const std::vector<A> a = random_codes<A>(random, stack * m * k), zero = random_codes<A>(random, 1);
  const std::vector<float> scale{0.037f};
  kernel_rig rig{1, 3};
  rig.input<A>({stack, m, k}, a).template input<B>(b.shape, b.codes, b.constant).template input<float>({}, scale);
  rig.input<float>(b.columns(b.scales.size()), b.scales, b.constant).template input<A>({}, zero);
  rig.input<B>(b.columns(b.zeros.size()), b.zeros, b.constant).template input<float>({n}, b.bias, b.constant);
  REQUIRE(rig.run<eps::matmul_integer_to_float>({dtype::f32}));
  CHECK(elements_of<float>(rig) == expected(a, scale[0], zero[0], b, m));
}

TEST_CASE("MatMulIntegerToFloat has exact sums, scaled and with the bias added") {
  for_each_target_and_seed(40, [](std::uint32_t seed) {
    check_to_float<std::uint8_t, std::int8_t>(seed);
    check_to_float<std::uint8_t, std::uint8_t>(seed);
    check_to_float<std::int8_t, std::int8_t>(seed);
    check_to_float<std::int8_t, std::uint8_t>(seed);
  });
}

template <class B>
void check_dynamic(std::uint32_t seed) {
  std::mt19937 random{seed};
  const auto size = [&](int most) { return std::int64_t(1 + random() % unsigned(most)); };
  const std::int64_t stack = size(3), m = size(9), k = size(70), n = size(70);
  const right_side<B> b{random, {k, n}, random() % 2 == 0, random() % 2 == 0, random() % 2 == 0};
  const std::vector<float> x = random_numbers<float>(random, stack * m * k);
  kernel_rig quantized{11}, rig{1, 3};
  REQUIRE(
      quantized.input<float>({stack, m, k}, x).run<eps::dynamic_quantize_linear>({dtype::u8, dtype::f32, dtype::u8}));
  rig.input<float>({stack, m, k}, x).template input<B>(b.shape, b.codes, b.constant);
  rig.input<float>(b.columns(b.scales.size()), b.scales, b.constant);
  rig.input<B>(b.columns(b.zeros.size()), b.zeros, b.constant).template input<float>({n}, b.bias, b.constant);
  REQUIRE(rig.run<eps::dynamic_quantize_matmul>({dtype::f32}));
  CHECK(elements_of<float>(rig) == expected(elements_of<std::uint8_t>(quantized), quantized.output<float>(1)[0],
                                            quantized.output<std::uint8_t>(2)[0], b, m));
}

TEST_CASE("DynamicQuantizeMatMul is DynamicQuantizeLinear and the product of its quantized values") {
  for_each_target_and_seed(40, [](std::uint32_t seed) {
    check_dynamic<std::int8_t>(seed);
    check_dynamic<std::uint8_t>(seed);
  });
}

TEST_CASE("products of quantized values of 8 bits to floats: empty tensors, vectors, and shapes that do not fit") {
  const std::vector<std::uint8_t> a{1, 2, 3}, none;
  const std::vector<std::int8_t> b{1, 2, 3, 4, 5, 6}, zeros{0, 0};
  const std::vector<float> one{1}, three{1, 2, 3}, two{1, 10}, x{0, 127.5f, 255};
  kernel_rig vectors{1}, empty{1}, scales{1}, bias{1}, zero{1}, sizes{1}, left{1};
  vectors.input<float>({3}, x).input<std::int8_t>({3, 2}, b).input<float>({2}, two);
  REQUIRE(vectors.run<eps::dynamic_quantize_matmul>({dtype::f32}));
  CHECK(elements_of<float>(vectors) == std::vector<float>{128 * 3 + 255 * 5, 128 * 40 + 255 * 60});
  empty.input<std::uint8_t>({0, 3}, none).input<std::int8_t>({3, 2}, b).input<float>({}, one).input<float>({}, one);
  REQUIRE(empty.run<eps::matmul_integer_to_float>({dtype::f32}));
  CHECK(empty.output<float>(0).shape() == extents{0, 2});
  const auto refused = [&](kernel_rig& rig) {
    rig.checked_as<op::microsoft::MatMulIntegerToFloat>();
    return rig.run<eps::matmul_integer_to_float>({dtype::f32}).code() == status_code::invalid_argument;
  };
  CHECK(refused(
      scales.input<std::uint8_t>({3}, a).input<std::int8_t>({3, 2}, b).input<float>({}, one).input<float>({3}, three)));
  CHECK(refused(
      left.input<std::uint8_t>({3}, a).input<std::int8_t>({3, 2}, b).input<float>({2}, two).input<float>({}, one)));
  CHECK(refused(
      sizes.input<std::uint8_t>({3}, a).input<std::int8_t>({2, 3}, b).input<float>({}, one).input<float>({}, one)));
  zero.input<std::uint8_t>({3}, a).input<std::int8_t>({3, 2}, b).input<float>({}, one).input<float>({}, one);
  CHECK(refused(zero.no_input().input<std::int8_t>({1, 2}, zeros)));
  bias.input<std::uint8_t>({3}, a).input<std::int8_t>({3, 2}, b).input<float>({}, one).input<float>({}, one);
  CHECK(refused(bias.no_input().no_input().input<float>({3}, three)));
}

template <class A, class B>
void check_shorts(std::uint32_t seed) {
  std::mt19937 random{seed};
  const auto size = [&](int most) { return std::int64_t(1 + random() % unsigned(most)); };
  const std::int64_t stack = size(3), m = size(5), k = size(20), n = size(50);
  const std::vector<A> a = random_codes<A>(random, stack * m * k);
  const std::vector<B> b = random_codes<B>(random, k * n);
  kernel_rig rig{1, 3};
  REQUIRE(
      rig.input<A>({stack, m, k}, a).template input<B>({k, n}, b).template run<eps::matmul_integer16>({dtype::i32}));
  std::vector<std::int32_t> want;
  for (std::int64_t row = 0; row < stack * m; ++row)
    for (std::int64_t j = 0; j < n; ++j) {
      std::int64_t sum = 0;
      for (std::int64_t l = 0; l < k; ++l)
        sum += std::int64_t{a[std::size_t(row * k + l)]} * std::int64_t{b[std::size_t(l * n + j)]};
      want.push_back(std::int32_t(std::uint32_t(std::uint64_t(sum))));
    }
  CHECK(elements_of<std::int32_t>(rig) == want);
}

TEST_CASE("MatMulInteger16 wraps in 32 bits, for each pair of types") {
  for_each_target_and_seed(20, [](std::uint32_t seed) {
    check_shorts<std::int16_t, std::int16_t>(seed);
    check_shorts<std::uint16_t, std::int16_t>(seed);
    check_shorts<std::int16_t, std::uint16_t>(seed);
    check_shorts<std::uint16_t, std::uint16_t>(seed);
  });
}

}  // namespace
}  // namespace cameo::test
