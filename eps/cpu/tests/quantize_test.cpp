#include <doctest/doctest.h>
#include <cameo/eps/cpu/integer_conv.hpp>
#include <cameo/eps/cpu/integer_matmul.hpp>
#include <cameo/eps/cpu/quantize_linear.hpp>
#include <cameo/op/onnx.hpp>

#include <limits>

#include "kernel_rig.hpp"

namespace cameo::test {
namespace {

TEST_CASE("ties round to even, numbers out of range saturate, NaN becomes 0") {
  const std::vector<float> x{0.5f, 1.5f, 2.5f, -0.5f, 1e30f, -infinity, not_a_number, 300}, scale{1};
  const std::vector<std::uint8_t> zero{10};
  kernel_rig rig{21};
  CHECK(rig.input<float>({8}, x).scale_and_zero(scale, zero).run<eps::quantize_linear>({dtype::u8}));
  CHECK(elements_of<std::uint8_t>(rig) == std::vector<std::uint8_t>{10, 12, 12, 10, 255, 0, 10, 255});
}

TEST_CASE("the scales for int32 outputs may be constants or inputs of the run") {
  const std::vector<float> x{-4, 3, 9, 100};
  const std::vector<std::int32_t> codes{-4, 3, 9, 100}, scale{2};
  const std::vector<std::int16_t> zero{1000};
  for (const bool constant : {false, true}) {
    kernel_rig rig{23}, whole{23};
    rig.input<float>({4}, x).input<std::int32_t>({}, scale, constant).input<std::int16_t>({}, zero, constant);
    CHECK(rig.run<eps::quantize_linear>({dtype::i16}));
    CHECK(elements_of<std::int16_t>(rig) == std::vector<std::int16_t>{998, 1002, 1004, 1050});
    whole.input<std::int32_t>({4}, codes).input<std::int32_t>({}, scale, constant).no_input();
    CHECK(whole.run<eps::quantize_linear>({dtype::u8}));
    CHECK(elements_of<std::uint8_t>(whole) == std::vector<std::uint8_t>{0, 2, 4, 50});
  }
}

TEST_CASE("a scale of 0 does not crash") {
  const std::vector<float> x{1, -1, 0}, scale{0};
  const std::vector<std::int8_t> zero{0};
  kernel_rig rig{21};
  CHECK(rig.input<float>({3}, x).scale_and_zero(scale, zero).run<eps::quantize_linear>({dtype::i8}));
  CHECK(elements_of<std::int8_t>(rig) == std::vector<std::int8_t>{127, -128, 0});
}

TEST_CASE("the last block may be shorter") {
  const std::vector<float> x{1, 2, 3, 4, 5}, scale{1, 2, 5};
  kernel_rig rig{21};
  rig.attribute("axis", std::int64_t{0}).attribute("block_size", std::int64_t{2});
  CHECK(rig.input<float>({5}, x).input<float>({3}, scale).no_input().run<eps::quantize_linear>({dtype::u8}));
  CHECK(elements_of<std::uint8_t>(rig) == std::vector<std::uint8_t>{1, 2, 2, 2, 1});
  kernel_rig one{21};
  one.checked_as<op::QuantizeLinear>();
  one.attribute("axis", std::int64_t{0}).attribute("block_size", std::int64_t{-2});
  CHECK(one.input<float>({5}, x).input<float>({3}, scale).no_input().run<eps::quantize_linear>({dtype::u8}).code() ==
        status_code::invalid_graph);
}

TEST_CASE("scales that do not fit and invalid axes are refused") {
  const std::vector<float> scale{1, 2, 3};
  const std::vector<std::int8_t> x(6), zero{0, 0};
  for (const std::int64_t axis :
       {std::int64_t{0}, std::int64_t{2}, std::int64_t{-3}, std::numeric_limits<std::int64_t>::min()}) {
    kernel_rig rig{13};
    rig.attribute("axis", axis).input<std::int8_t>({2, 3}, x).input<float>({3}, scale);
    CHECK(rig.run<eps::dequantize_linear>({dtype::f32}).code() == status_code::invalid_argument);
  }
  kernel_rig rig{13};
  rig.input<std::int8_t>({2, 3}, x).input<float>({3}, scale).input<std::int8_t>({2}, zero);
  CHECK(rig.run<eps::dequantize_linear>({dtype::f32}).code() == status_code::invalid_argument);
}

TEST_CASE("int32 is dequantized without overflow of the difference") {
  const std::vector<std::int32_t> x{std::numeric_limits<std::int32_t>::min()}, zero{1};
  const std::vector<float> scale{1};
  kernel_rig rig{10};
  rig.coded({1}, x, scale, zero);
  CHECK(rig.run<eps::dequantize_linear>({dtype::f32}));
  CHECK(elements_of<float>(rig) == std::vector<float>{-2147483648.0f});
}

TEST_CASE("an empty tensor, and one of zeros, has the scale 1") {
  for (const std::size_t n : {std::size_t{0}, std::size_t{3}}) {
    const std::vector<float> x(n, 0.0f);
    kernel_rig rig{11};
    rig.input<float>({std::int64_t(n)}, x);
    CHECK(rig.run<eps::dynamic_quantize_linear>({dtype::u8, dtype::f32, dtype::u8}));
    CHECK(elements_of<std::uint8_t>(rig) == std::vector<std::uint8_t>(n, 0));
    CHECK(elements_of<float>(rig, 1) == std::vector<float>{1});
    CHECK(elements_of<std::uint8_t>(rig, 2) == std::vector<std::uint8_t>{0});
  }
}

TEST_CASE("zero points per row and per column") {
  const std::vector<std::uint8_t> a{1, 2, 3, 4}, a_zero{1, 3};
  const std::vector<std::int8_t> b{1, 2, 3, 4}, b_zero{-1, 2};
  kernel_rig rig{10};
  rig.input<std::uint8_t>({2, 2}, a).input<std::int8_t>({2, 2}, b);
  rig.input<std::uint8_t>({2}, a_zero).input<std::int8_t>({2}, b_zero);
  CHECK(rig.run<eps::matmul_integer>({dtype::i32}));
  CHECK(elements_of<std::int32_t>(rig) == std::vector<std::int32_t>{4, 2, 4, 2});
  kernel_rig wrong{10};
  wrong.input<std::uint8_t>({2, 2}, a).input<std::int8_t>({1, 4}, b);
  wrong.checked_as<op::MatMulInteger>();
  CHECK(wrong.run<eps::matmul_integer>({dtype::i32}).code() == status_code::invalid_argument);
}

TEST_CASE("padding of an integer convolution adds 0, whatever the zero point") {
  const std::vector<std::uint8_t> x{5, 6, 7}, w{1, 1, 1}, x_zero{4}, w_zeros{0, 0};
  kernel_rig rig{10};
  rig.attribute("pads", std::vector<std::int64_t>{1, 1});
  rig.input<std::uint8_t>({1, 1, 3}, x).input<std::uint8_t>({1, 1, 3}, w).input<std::uint8_t>({}, x_zero);
  CHECK(rig.run<eps::conv_integer>({dtype::i32}));
  CHECK(elements_of<std::int32_t>(rig) == std::vector<std::int32_t>{3, 6, 5});
  kernel_rig wrong{10};
  wrong.input<std::uint8_t>({1, 1, 3}, x).input<std::uint8_t>({1, 1, 3}, w).no_input();
  wrong.input<std::uint8_t>({2}, w_zeros);
  wrong.checked_as<op::ConvInteger>();
  CHECK(wrong.run<eps::conv_integer>({dtype::i32}).code() == status_code::invalid_argument);
  kernel_rig groups{10};
  groups.checked_as<op::ConvInteger>()
      .attribute("group", std::int64_t{0})
      .input<std::uint8_t>({1, 1, 3}, x)
      .input<std::uint8_t>({1, 1, 3}, w);
  CHECK(groups.run<eps::conv_integer>({dtype::i32}).code() == status_code::invalid_graph);
}

}  // namespace
}  // namespace cameo::test
