#include <doctest/doctest.h>
#include <cameo/eps/cpu/integer_conv.hpp>
#include <cameo/eps/cpu/integer_matmul.hpp>
#include <cameo/eps/cpu/qgemm.hpp>
#include <cameo/eps/cpu/qlinear.hpp>
#include <cameo/eps/cpu/recurrent.hpp>

#include <cmath>

#include "kernel_rig.hpp"

namespace cameo::test {
namespace {

using bytes = std::vector<std::uint8_t>;
using small = std::vector<std::int8_t>;
namespace ms = op::microsoft;

template <class T>
T coded(double v, double scale, double zero) {
  const double lowest = std::numeric_limits<T>::lowest(), highest = std::numeric_limits<T>::max();
  return T(std::clamp(std::nearbyint(v / scale) + zero, lowest, highest));
}

TEST_CASE("QLinearAdd and QLinearMul broadcast, round ties to even and saturate") {
  const bytes a{10, 11, 12, 255}, b{0, 7};
  const floats a_scale{0.5f}, b_scale{1}, y_scale{1};
  const bytes a_zero{10}, b_zero{4}, y_zero{100};
  kernel_rig sum{1};
  sum.coded({1, 4}, a, a_scale, a_zero).input<std::uint8_t>({2, 1}, b).input({1}, b_scale).input({1}, b_zero);
  sum.scale_and_zero(y_scale, y_zero);
  CHECK(sum.run<eps::qlinear_binary<ms::QLinearAdd>>({dtype::u8}));
  // The numbers of a are 0 0.5 1 122.5, those of b are -4 3.
  CHECK(elements_of<std::uint8_t>(sum) == bytes{96, 96, 97, 218, 103, 104, 104, 226});
  kernel_rig product{1};
  product.coded({1, 4}, a, a_scale, a_zero).input<std::uint8_t>({2, 1}, b).input({1}, b_scale).input({1}, b_zero);
  product.scale_and_zero(y_scale, y_zero);
  CHECK(product.run<eps::qlinear_binary<ms::QLinearMul>>({dtype::u8}));
  CHECK(elements_of<std::uint8_t>(product) == bytes{100, 98, 96, 0, 100, 102, 103, 255});
}

TEST_CASE("QLinearAdd without zero points, with empty tensors, and with shapes that do not fit") {
  const small a{-100, 100}, none;
  const floats scale{1}, two{1, 2};
  const small zero{0};
  kernel_rig plain{1};
  plain.coded({2}, a, scale).coded({2}, a, scale).input<float>({}, scale);
  CHECK(plain.run<eps::qlinear_binary<ms::QLinearAdd>>({dtype::i8}));
  CHECK(elements_of<std::int8_t>(plain) == small{-128, 127});
  kernel_rig empty{1};
  empty.coded({0, 3}, none, scale).coded({1}, zero, scale).input<float>({}, scale);
  CHECK(empty.run<eps::qlinear_binary<ms::QLinearAdd>>({dtype::i8}));
  CHECK(empty.output<std::int8_t>(0).empty());
  kernel_rig scales{1};
  scales.input<std::int8_t>({2}, a).input<float>({2}, two).no_input().coded({2}, a, scale).input<float>({}, scale);
  CHECK(scales.run<eps::qlinear_binary<ms::QLinearAdd>>({dtype::i8}).code() == status_code::invalid_argument);
}

TEST_CASE("a scale of 0 or NaN does not crash any of them") {
  const bytes x{0, 128, 255}, zero{3};
  for (const float bad : {0.0f, std::nanf(""), -1.0f, 1e-40f}) {
    const floats scale{bad};
    kernel_rig softmax{1}, sigmoid{1}, leaky{1};
    CHECK(softmax.coded({3}, x, scale, zero).scale_and_zero(scale, zero).run<eps::qlinear_softmax>({dtype::u8}));
    sigmoid.coded({3}, x, scale, zero).scale_and_zero(scale, zero);
    CHECK(sigmoid.run<eps::qlinear_map<ms::QLinearSigmoid>>({dtype::u8}));
    leaky.attribute("alpha", -0.5f).coded({3}, x, scale, zero).scale_and_zero(scale, zero);
    CHECK(leaky.run<eps::qlinear_map<ms::QLinearLeakyRelu>>({dtype::u8}));
  }
}

TEST_CASE("all 256 quantized values through QLinearLeakyRelu and QLinearSigmoid") {
  small x(256);
  for (int i = 0; i < 256; ++i) x[std::size_t(i)] = std::int8_t(i - 128);
  const floats x_scale{0.05f}, y_scale{0.1f}, sigmoid_scale{1 / 256.0f};
  const small x_zero{7}, y_zero{-3}, sigmoid_zero{-128};
  kernel_rig leaky{1}, sigmoid{1};
  leaky.attribute("alpha", 0.25f).coded({256}, x, x_scale, x_zero).scale_and_zero(y_scale, y_zero);
  CHECK(leaky.run<eps::qlinear_map<ms::QLinearLeakyRelu>>({dtype::i8}));
  sigmoid.coded({256}, x, x_scale, x_zero).scale_and_zero(sigmoid_scale, sigmoid_zero);
  CHECK(sigmoid.run<eps::qlinear_map<ms::QLinearSigmoid>>({dtype::i8}));
  for (std::size_t i = 0; i < 256; ++i) {
    const double v = (x[i] - 7) * 0.05;
    CHECK(std::abs(leaky.output<std::int8_t>(0)[std::int64_t(i)] - coded<std::int8_t>(v < 0 ? v * 0.25 : v, 0.1, -3)) <=
          1);
    CHECK(std::abs(sigmoid.output<std::int8_t>(0)[std::int64_t(i)] -
                   coded<std::int8_t>(1 / (1 + std::exp(-v)), 1 / 256.0, -128)) <= 1);
  }
}

TEST_CASE("QLinearSoftmax along an axis, or from it to the end") {
  std::mt19937 random{3};
  const bytes x = random_codes<std::uint8_t>(random, 2 * 3 * 4);
  const floats x_scale{0.02f}, y_scale{1 / 256.0f};
  const bytes x_zero{90}, y_zero{0};
  for (const bool old : {false, true}) {
    kernel_rig rig{1};
    rig.attribute("axis", std::int64_t{1}).attribute("opset", std::int64_t{old ? 12 : 13});
    rig.coded({2, 3, 4}, x, x_scale, x_zero).scale_and_zero(y_scale, y_zero);
    CHECK(rig.run<eps::qlinear_softmax>({dtype::u8}));
    for (std::size_t i = 0; i < x.size(); ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < x.size(); ++j)
        if (j / 12 == i / 12 && (old || j % 4 == i % 4)) sum += std::exp(0.02 * (double(x[j]) - 90));
      const double want = std::exp(0.02 * (double(x[i]) - 90)) / sum;
      CHECK(std::abs(rig.output<std::uint8_t>(0)[std::int64_t(i)] - coded<std::uint8_t>(want, 1 / 256.0, 0)) <= 1);
    }
  }
  kernel_rig outside{1};
  outside.attribute("axis", std::int64_t{3}).coded({2, 3, 4}, x, x_scale, x_zero).scale_and_zero(y_scale, y_zero);
  CHECK(outside.run<eps::qlinear_softmax>({dtype::u8}).code() == status_code::invalid_argument);
}

TEST_CASE("pools count the elements inside, with channels first or last") {
  // One image of 2 channels, 3 by 3: channel 0 counts up, channel 1 down.
  const bytes first{0, 10, 20, 30, 40, 50, 60, 70, 80, 80, 70, 60, 50, 40, 30, 20, 10, 0};
  bytes last(18);
  for (std::size_t i = 0; i < 18; ++i) last[i % 9 * 2 + i / 9] = first[i];
  const floats scale{1};
  const bytes zero{0};
  const auto run = [&](kernel_rig& rig, bool is_last) {
    rig.attribute("channels_last", std::int64_t{is_last});
    rig.input<std::uint8_t>(is_last ? extents{1, 3, 3, 2} : extents{1, 2, 3, 3}, is_last ? last : first);
    rig.scale_and_zero(scale, zero).scale_and_zero(scale, zero);
  };
  for (const bool is_last : {false, true}) {
    kernel_rig all{1};
    run(all, is_last);
    CHECK(all.run<eps::qlinear_global_average_pool>({dtype::u8}));
    CHECK(elements_of<std::uint8_t>(all) == bytes{40, 40});
    for (const bool include : {false, true}) {
      kernel_rig some{1};
      some.attribute("kernel_shape", std::vector<std::int64_t>{2, 2});
      some.attribute("strides", std::vector<std::int64_t>{2, 2})
          .attribute("pads", std::vector<std::int64_t>{1, 1, 0, 0});
      some.attribute("count_include_pad", std::int64_t{include});
      run(some, is_last);
      CHECK(some.run<eps::qlinear_average_pool>({dtype::u8}));
      // Windows: {0}, {10, 20}, {30, 60}, {40, 50, 70, 80}.
      const bytes want = include ? bytes{0, 8, 22, 60, 20, 32, 18, 20} : bytes{0, 15, 45, 60, 80, 65, 35, 20};
      bytes in_order = elements_of<std::uint8_t>(some);
      if (is_last) {
        bytes turned(8);
        for (std::size_t i = 0; i < 8; ++i) turned[i] = in_order[i % 4 * 2 + i / 4];
        in_order = turned;
      }
      CHECK(in_order == want);
    }
  }
}

TEST_CASE("with count_include_pad, a window that ceil_mode extends beyond the padding is divided by all its elements") {
  const bytes x{10, 20, 30, 40}, zero{0};
  const floats scale{1};
  kernel_rig rig{1};
  rig.attribute("kernel_shape", std::vector<std::int64_t>{3}).attribute("strides", std::vector<std::int64_t>{2});
  rig.attribute("ceil_mode", std::int64_t{1}).attribute("count_include_pad", std::int64_t{1});
  rig.coded({1, 1, 4}, x, scale, zero);
  rig.scale_and_zero(scale, zero);
  REQUIRE(rig.run<eps::qlinear_average_pool>({dtype::u8}));
  CHECK(elements_of<std::uint8_t>(rig) == bytes{20, 23});
}

TEST_CASE("QLinearConcat requantizes its parts to one scale") {
  const bytes a{10, 20}, b{1, 2, 3, 4}, zero{0}, five{5};
  const floats half{0.5f}, three{3}, unit{1};
  kernel_rig rig{1};
  rig.attribute("axis", std::int64_t{1}).scale_and_zero(unit, five).coded({2, 1}, a, half, zero);
  rig.coded({2, 2}, b, three, zero);
  CHECK(rig.run<eps::qlinear_concat>({dtype::u8}));
  CHECK(elements_of<std::uint8_t>(rig) == bytes{10, 8, 11, 15, 14, 17});
  kernel_rig uneven{1};
  uneven.attribute("axis", std::int64_t{0}).scale_and_zero(unit, five).coded({2, 1}, a, half, zero);
  uneven.coded({2, 2}, b, three, zero);
  CHECK(uneven.run<eps::qlinear_concat>({dtype::u8}).code() == status_code::invalid_argument);
  kernel_rig lacking{1};
  lacking.scale_and_zero(unit, five).input<std::uint8_t>({2, 1}, a);
  CHECK(lacking.run<eps::qlinear_concat>({dtype::u8}).code() == status_code::invalid_argument);
}

TEST_CASE("QLinearWhere requantizes both operands to one scale") {
  const bytes x{10, 20}, y{7}, zero{0}, one_more{1};
  const floats half{0.5f}, three{3}, unit{1};
  kernel_rig rig{1};
  const bool condition[] = {true, false};
  rig.input(value::tensor<bool>({2}, condition)).coded({2}, x, half, zero).coded({1}, y, three, one_more);
  rig.scale_and_zero(unit, zero);
  CHECK(rig.run<eps::qlinear_where>({dtype::u8}));
  CHECK(elements_of<std::uint8_t>(rig) == bytes{5, 18});
}

TEST_CASE("QGemm: transposed matrices, a scale per column, quantized and float outputs") {
  // A - 1 = [[1 2] [3 4] [5 6]], B - [0 1] = [[1 -1] [2 0]].
  const bytes a{2, 3, 4, 5, 6, 7}, a_turned{2, 4, 6, 3, 5, 7}, a_zero{1}, y_zero{10};
  const small b{1, 0, 2, 1}, b_turned{1, 2, 0, 1}, b_zero{0, 1};
  const floats a_scale{0.5f}, b_scale{1, 2}, y_scale{0.5f};
  const std::vector<std::int32_t> bias{1, -1};
  for (const bool turned : {false, true}) {
    for (const bool coded_y : {false, true}) {
      kernel_rig rig{1};
      rig.attribute("transA", std::int64_t{turned}).attribute("transB", std::int64_t{turned}).attribute("alpha", 2.0f);
      rig.input<std::uint8_t>(turned ? extents{2, 3} : extents{3, 2}, turned ? a_turned : a);
      rig.scale_and_zero(a_scale, a_zero).input<std::int8_t>({2, 2}, turned ? b_turned : b);
      rig.input<float>({2}, b_scale).input<std::int8_t>({2}, b_zero).input<std::int32_t>({2}, bias);
      if (coded_y) rig.scale_and_zero(y_scale, y_zero);
      CHECK(rig.run<eps::qgemm>({coded_y ? dtype::u8 : dtype::f32}));
      // The rows of the product are [5 -1], [11 -3] and [17 -5]; with C they are [6 -2], [12 -4] and [18 -6]. The
      // scales multiply the first column by 1 and the second by 2.
      if (coded_y) CHECK(elements_of<std::uint8_t>(rig) == bytes{22, 2, 34, 0, 46, 0});
      else CHECK(elements_of<float>(rig) == floats{6, -4, 12, -8, 18, -12});
    }
  }
  kernel_rig uneven{1};
  uneven.coded({2, 3}, a, a_scale, a_zero);
  uneven.input<std::int8_t>({2, 2}, b).input<float>({2}, b_scale).input<std::int8_t>({2}, b_zero);
  CHECK(uneven.run<eps::qgemm>({dtype::f32}).code() == status_code::invalid_argument);
}

TEST_CASE("QLinearConv, QLinearMatMul and QGemm: a sum near a tie is rounded as in ONNX Runtime") {
  struct row {
    float x_scale, w_scale, y_scale;
    std::uint8_t x, w, want;
  };
  // If the scales were multiplied in double, the results would be 41 and 23.
  for (const row& r : {row{0.0574f, 0.0585f, 0.18f, 167, 13, 40}, row{0.05f, 0.047f, 0.0915f, 15, 61, 24}}) {
    const bytes x{r.x}, w{r.w}, zero{0};
    const floats x_scale{r.x_scale}, w_scale{r.w_scale}, y_scale{r.y_scale};
    kernel_rig conv{10}, matmul{10}, gemm{1};
    for (kernel_rig* rig : {&conv, &matmul, &gemm}) {
      const extents shape = rig == &conv ? extents{1, 1, 1} : extents{1, 1};
      rig->coded(shape, x, x_scale, zero);
      rig->coded(shape, w, w_scale, zero);
      if (rig == &gemm) rig->no_input();
      rig->input<float>({}, y_scale).input<std::uint8_t>({}, zero);
    }
    REQUIRE(conv.run<eps::qlinear_conv>({dtype::u8}));
    REQUIRE(matmul.run<eps::qlinear_matmul>({dtype::u8}));
    REQUIRE(gemm.run<eps::qgemm>({dtype::u8}));
    CHECK(elements_of<std::uint8_t>(conv) == bytes{r.want});
    CHECK(elements_of<std::uint8_t>(matmul) == bytes{r.want});
    CHECK(elements_of<std::uint8_t>(gemm) == bytes{r.want});
  }
}

TEST_CASE("QLinearSoftmax: a quotient near a tie is rounded as in ONNX Runtime, and none overflows") {
  const bytes row{147, 133, 196, 231, 8, 164}, zero{0}, single{7}, pair{0, 255};
  const floats x_scale{0.013811525888741016f}, y_scale{1 / 256.0f}, tiny{1e-6f}, unit{1};
  const auto run = [&](const bytes& x, const floats& from, const floats& to) {
    kernel_rig rig{1};
    rig.coded({std::int64_t(x.size())}, x, from, zero);
    REQUIRE(rig.scale_and_zero(to, zero).run<eps::qlinear_softmax>({dtype::u8}));
    return elements_of<std::uint8_t>(rig);
  };
  CHECK(run(row, x_scale, y_scale) == bytes{30, 25, 60, 97, 4, 39});
  CHECK(run(single, x_scale, y_scale) == bytes{255});
  CHECK(run(pair, unit, tiny) == bytes{0, 255});
}

TEST_CASE("an LSTM with weights of 8 bits equals one with the dequantized weights, up to rounding") {
  std::mt19937 random{5};
  const std::int64_t length = 5, batch = 2, inputs = 6, hidden = 3, width = 4 * hidden;
  const std::vector<float> x = random_numbers<float>(random, length * batch * inputs);
  const small w = random_codes<std::int8_t>(random, inputs * width);
  const small r = random_codes<std::int8_t>(random, hidden * width);
  std::vector<float> w_scale(static_cast<std::size_t>(width)), r_scale{0.006f};
  for (std::int64_t i = 0; i < width; ++i) w_scale[std::size_t(i)] = 0.003f + 0.0005f * float(i);
  const small w_zero(std::size_t(width), 4), r_zero { -2 };
  std::vector<float> w_plain(w.size()), r_plain(r.size());
  for (std::int64_t j = 0; j < width; ++j) {
    for (std::int64_t i = 0; i < inputs; ++i)
      w_plain[std::size_t(j * inputs + i)] = float(w[std::size_t(i * width + j)] - 4) * w_scale[std::size_t(j)];
    for (std::int64_t i = 0; i < hidden; ++i)
      r_plain[std::size_t(j * hidden + i)] = float(r[std::size_t(i * width + j)] + 2) * r_scale[0];
  }
  kernel_rig coded_one{1}, plain_one{14};
  plain_one.checked_as<op::LSTM>();
  coded_one.checked_as<ms::DynamicQuantizeLSTM>();
  const std::vector<dtype> outputs{dtype::f32, dtype::f32, dtype::f32};
  plain_one.attribute("hidden_size", hidden).input<float>({length, batch, inputs}, x);
  plain_one.input<float>({1, width, inputs}, w_plain).input<float>({1, width, hidden}, r_plain);
  CHECK(plain_one.run<eps::recurrent<op::LSTM>>(outputs));
  coded_one.attribute("hidden_size", hidden).input<float>({length, batch, inputs}, x);
  coded_one.input<std::int8_t>({1, inputs, width}, w).input<std::int8_t>({1, hidden, width}, r);
  coded_one.no_inputs(5).input<float>({1, width}, w_scale).input<std::int8_t>({1, width}, w_zero);
  coded_one.input<float>({1}, r_scale).input<std::int8_t>({1}, r_zero);
  CHECK(coded_one.run<eps::recurrent<ms::DynamicQuantizeLSTM>>(outputs));
  for (std::size_t o = 0; o < 3; ++o) {
    const std::vector<float> a = elements_of<float>(coded_one, o), b = elements_of<float>(plain_one, o);
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) < 0.02f);
  }
  kernel_rig wrong{1};
  wrong.checked_as<ms::DynamicQuantizeLSTM>();
  wrong.attribute("hidden_size", hidden).input<float>({length, batch, inputs}, x);
  wrong.input<std::int8_t>({1, inputs, width}, w).input<std::int8_t>({1, hidden, width}, r);
  wrong.no_inputs(5).input<float>({1}, r_scale).input<std::int8_t>({1, width}, w_zero);
  wrong.input<float>({1}, r_scale).input<std::int8_t>({1}, r_zero);
  CHECK(wrong.run<eps::recurrent<ms::DynamicQuantizeLSTM>>(outputs).code() == status_code::invalid_argument);
}

}  // namespace
}  // namespace cameo::test
