#include <cameo/eps/cpu/conv.hpp>
#include <cameo/op/onnx.hpp>

#include "rig_checks.hpp"

#include <doctest/doctest.h>

using namespace cameo;
using cameo::test::axis_case;
using cameo::test::kernel_rig;

namespace {

struct conv_case {
  std::int64_t images = 1, groups = 1, channels = 1, rows = 1;
  std::vector<axis_case> axes;
  extents x() const { return shape({images, groups * channels}, &axis_case::in); }
  extents w() const { return shape({groups * rows, channels}, &axis_case::kernel); }
  extents y() const {
    extents s{images, groups * rows};
    for (const axis_case& a : axes) s.push_back(a.out());
    return s;
  }
  std::vector<std::int64_t> all(std::int64_t axis_case::* member) const {
    std::vector<std::int64_t> v;
    for (const axis_case& a : axes) v.push_back(a.*member);
    return v;
  }
  std::vector<std::int64_t> pads() const {
    std::vector<std::int64_t> v = all(&axis_case::pad_begin);
    for (const axis_case& a : axes) v.push_back(a.pad_end);
    return v;
  }

 private:
  extents shape(extents s, std::int64_t axis_case::* member) const {
    for (const axis_case& a : axes) s.push_back(a.*member);
    return s;
  }
};

/// The sums of the definition: over the channels of the group and all taps inside the image.
template <class T>
std::vector<double> naive_conv(const conv_case& k, const std::vector<T>& x, const std::vector<T>& w,
                               const std::vector<T>& b) {
  const std::int64_t plane = k.x().count(2, k.x().rank()), taps = k.w().count(2, k.w().rank());
  const std::int64_t pixels = k.y().count(2, k.y().rank());
  std::vector<double> y(static_cast<std::size_t>(k.y().count()));
  for (std::int64_t at = 0; at < k.y().count(); ++at) {
    const std::int64_t pixel = at % pixels, row = at / pixels % (k.groups * k.rows),
                       image = at / pixels / (k.groups * k.rows);
    double sum = b.empty() ? 0 : double(b[std::size_t(row)]);
    for (std::int64_t c = 0; c < k.channels; ++c)
      for (std::int64_t t = 0; t < taps; ++t) {
        std::int64_t rest_p = pixel, rest_t = t, from = 0, scale = 1;
        bool inside = true;
        for (std::size_t i = k.axes.size(); i-- > 0;) {
          const axis_case& a = k.axes[i];
          const std::int64_t p = rest_p % a.out() * a.stride + rest_t % a.kernel * a.dilation - a.pad_begin;
          inside = inside && p >= 0 && p < a.in;
          from += p * scale, scale *= a.in, rest_p /= a.out(), rest_t /= a.kernel;
        }
        const std::int64_t channel = (image * k.groups + row / k.rows) * k.channels + c;
        if (inside)
          sum += double(x[std::size_t(channel * plane + from)]) *
                 double(w[std::size_t((row * k.channels + c) * taps + t)]);
      }
    y[std::size_t(at)] = sum;
  }
  return y;
}

conv_case random_conv_case(std::mt19937& random) {
  const auto upto = [&](int most) { return std::int64_t(random() % unsigned(most) + 1); };
  conv_case k{upto(2), upto(3), upto(5), upto(30), {}};
  if (random() % 4 == 0) k.channels = 1, k.rows = upto(2), k.groups = upto(9);
  const std::int64_t rank = random() % 5 == 0 ? 3 : upto(2);
  for (std::int64_t i = 0; i < rank; ++i) {
    axis_case a{upto(rank == 3 ? 8 : rank == 1 ? 90 : 23), upto(4), upto(3), upto(2), upto(3) - 1, upto(3) - 1};
    if (random() % 3 == 0) a.kernel = 1;
    if (random() % 3 == 0) a.pad_begin = a.pad_end = 0;
    a.in = std::max(a.in, (a.kernel - 1) * a.dilation + 1 - a.pad_begin - a.pad_end);
    k.axes.push_back(a);
  }
  if (random() % 6 == 0)
    for (axis_case& a : k.axes) a = {a.in, 1, 1, 1, 0, 0};
  return k;
}

void set_attributes(const conv_case& k, kernel_rig& rig) {
  rig.attribute("strides", k.all(&axis_case::stride)).attribute("dilations", k.all(&axis_case::dilation));
  rig.attribute("pads", k.pads()).attribute("group", k.groups);
}
kernel_rig conv_rig(const conv_case& k, std::size_t lanes = 1) {
  kernel_rig rig{11, lanes};
  set_attributes(k, rig);
  return rig;
}

template <class T>
void compare_conv(int cases, unsigned seed, double tolerance) {
  std::mt19937 random{seed};
  for (int i = 0; i < cases; ++i) {
    const conv_case k = random_conv_case(random);
    const auto x = test::random_numbers<T>(random, k.x().count()), w = test::random_numbers<T>(random, k.w().count());
    const auto b = test::random_numbers<T>(random, random() % 2 ? k.w()[0] : 0);
    CAPTURE(i);
    std::vector<double> want;
    if constexpr (std::is_floating_point_v<T>) {
      want = naive_conv(k, x, w, b);
    } else {
      const auto wide = [](const std::vector<T>& v) {
        std::vector<float> f;
        for (T e : v) f.push_back(float(e));
        return f;
      };
      want = naive_conv(k, wide(x), wide(w), wide(b));
    }
    std::vector<T> first;
    for (const std::size_t lanes : {1, 3}) {
      kernel_rig rig = conv_rig(k, lanes);
      rig.input<T>(k.x(), x).template input<T>(k.w(), w, lanes == 1);
      if (!b.empty()) rig.input<T>({std::int64_t(b.size())}, b);
      test::run_ok<eps::conv<T>>(rig, {dtype_of<T>});
      const auto y = rig.output<T>(0);
      CHECK(y.shape() == k.y());
      CHECK(test::near(y, want, tolerance));
      if (lanes == 1) first.assign(y.begin(), y.end());
      else CHECK(std::memcmp(first.data(), y.data(), y.size() * sizeof(T)) == 0);
    }
  }
}

}  // namespace

TEST_CASE("convolution is the sum of its definition, and its bits do not depend on threads or prepacking") {
  compare_conv<float>(400, 1, 1e-4);
  compare_conv<double>(100, 2, 1e-10);
  compare_conv<float16>(30, 3, 3e-3);
}

TEST_CASE("a convolution large enough for several blocks of depth, rows and pixels") {
  std::mt19937 random{5};
  for (const conv_case& k : {conv_case{1, 1, 70, 130, {{40, 3, 1, 1, 1, 1}, {33, 3, 1, 1, 1, 1}}},
                             conv_case{2, 1, 600, 40, {{9, 1, 2, 1, 0, 0}, {7, 1, 2, 1, 0, 0}}},
                             conv_case{1, 40, 1, 1, {{40, 3, 2, 1, 1, 1}, {133, 5, 2, 1, 2, 2}}},
                             conv_case{3, 1, 3, 24, {{50, 7, 2, 1, 3, 3}, {51, 7, 2, 1, 3, 3}}}}) {
    const auto x = test::random_numbers<float>(random, k.x().count()),
               w = test::random_numbers<float>(random, k.w().count());
    kernel_rig rig = conv_rig(k, 2);
    rig.input<float>(k.x(), x).input<float>(k.w(), w, true);
    REQUIRE(bool(rig.run<eps::conv<float>>({dtype::f32})));
    CHECK(test::near(rig.output<float>(0), naive_conv(k, x, w, {}), 1e-4));
  }
}

TEST_CASE("weights of 16 bits stay in 16 bits, and give the same bits as in float") {
  std::mt19937 random{6};
  for (const conv_case& k : {conv_case{1, 1, 70, 130, {{40, 3, 1, 1, 1, 1}, {33, 3, 1, 1, 1, 1}}},
                             conv_case{2, 1, 600, 40, {{9, 1, 2, 1, 0, 0}, {7, 1, 2, 1, 0, 0}}},
                             conv_case{1, 3, 5, 7, {{6, 3, 1, 1, 1, 1}, {5, 3, 1, 1, 1, 1}}},
                             conv_case{1, 1, 3, 400, {{5, 3, 1, 1, 1, 1}, {6, 3, 1, 1, 1, 1}}}}) {
    const auto x = test::random_numbers<float16>(random, k.x().count()),
               w = test::random_numbers<float16>(random, k.w().count());
    const std::vector<float> wide_x(x.begin(), x.end()), wide_w(w.begin(), w.end());
    kernel_rig plain = conv_rig(k, 1);
    plain.share_packs().input<float>(k.x(), wide_x).input<float>(k.w(), wide_w, true);
    REQUIRE(bool(plain.run<eps::conv<float>>({dtype::f32})));
    std::vector<float16> want;
    for (const float v : plain.output<float>(0)) want.push_back(float16{v});
    for (const std::size_t lanes : {1, 3}) {
      kernel_rig rig = conv_rig(k, lanes);
      rig.share_packs().input<float16>(k.x(), x).input<float16>(k.w(), w, true);
      REQUIRE(bool(rig.run<eps::conv<float16>>({dtype::f16})));
      CHECK(std::memcmp(want.data(), rig.output<float16>(0).data(), want.size() * sizeof(float16)) == 0);
      CHECK(2 * rig.packed_bytes() == plain.packed_bytes());
    }
  }
}

namespace {

/// Conv in 16 bits gives the bits of Conv in float on the same numbers, rounded once at the end: with a bias, with an
/// added Z, and with weights that are packed once or in each run.
template <class T>
void compare_narrow(const conv_case& k, std::mt19937& random) {
  const auto packed_on_one_thread = [](std::size_t input, std::size_t lanes) { return input == 1 && lanes == 1; };
  const auto set = [&](kernel_rig& rig) { set_attributes(k, rig); };
  test::check_like_float<T, eps::conv>(11, {k.x(), k.w(), {k.w()[0]}, k.y()}, random, set, packed_on_one_thread);
}

}  // namespace

TEST_CASE("images of 16 bits give the same bits as in float, however their lines are converted") {
  std::mt19937 random{7};
  for (int i = 0; i < 60; ++i) {
    const conv_case k = random_conv_case(random);
    CAPTURE(i);
    compare_narrow<float16>(k, random);
    compare_narrow<bfloat16>(k, random);
  }
  compare_narrow<float16>({1, 1, 3, 5, {{7, 3, 1, 1, 1, 1}, {1500, 3, 2, 1, 1, 1}}}, random);  // long lines
  compare_narrow<float16>({1, 2, 3, 5, {{7, 1, 2, 1, 0, 0}, {1500, 1, 2, 1, 0, 0}}}, random);
  compare_narrow<float16>({1, 1, 3, 5, {{90, 3, 1, 1, 1, 1}, {70, 3, 1, 1, 1, 1}}}, random);  // many short lines
  compare_narrow<float16>({1, 3, 1, 2, {{90, 3, 2, 1, 1, 1}, {70, 3, 1, 1, 1, 1}}}, random);
}

TEST_CASE("an activation that FusedConv does not have is named") {
  kernel_rig rig{1};
  rig.attribute("activation", "Mish");
  const std::vector<float> one{1};
  rig.input<float>({1, 1, 1, 1}, one).input<float>({1, 1, 1, 1}, one, true);
  test::check_refused<eps::fused_conv<float>>(rig, status_code::invalid_graph, "activation is none of Relu");
}

TEST_CASE("FusedConv adds Z, then applies its activation") {
  std::mt19937 random{7};
  for (const auto& [channels, rows] : {std::pair{3, 5}, std::pair{1, 1}}) {
    const conv_case k{2, 2, channels, rows, {{9, 3, 1, 1, 1, 1}, {21, 3, 1, 1, 1, 1}}};
    const auto x = test::random_numbers<float>(random, k.x().count()),
               w = test::random_numbers<float>(random, k.w().count());
    const auto b = test::random_numbers<float>(random, k.w()[0]),
               z = test::random_numbers<float>(random, k.y().count());
    for (const auto& [name, f] :
         {std::pair{"Relu", +[](double v) { return std::max(v, 0.0); }},
          std::pair{"LeakyRelu", +[](double v) { return v < 0 ? v * 0.25 : v; }},
          std::pair{"Clip", +[](double v) { return std::clamp(v, 0.25, 0.5); }},
          std::pair{"HardSigmoid", +[](double v) { return std::clamp(0.25 * v + 0.5, 0.0, 1.0); }},
          std::pair{"Sigmoid", +[](double v) { return 1 / (1 + std::exp(-v)); }},
          std::pair{"Tanh", +[](double v) { return std::tanh(v); }}}) {
      std::vector<double> want = naive_conv(k, x, w, b);
      for (std::size_t i = 0; i < want.size(); ++i) want[i] = f(want[i] + double(z[i]));
      kernel_rig rig = conv_rig(k);
      rig.attribute("activation", name).attribute("activation_params", std::vector<float>{0.25f, 0.5f});
      rig.input<float>(k.x(), x).input<float>(k.w(), w, true).input<float>({k.w()[0]}, b).input<float>(k.y(), z);
      REQUIRE(bool(rig.run<eps::fused_conv<float>>({dtype::f32})));
      const std::string which = name;  // clang 14 cannot capture structured bindings
      CHECK_MESSAGE(test::near(rig.output<float>(0), want, 1e-5), which);
    }
  }
}

TEST_CASE("SAME pads so that there are ceil(in / stride) outputs, the odd one at the end or at the start") {
  const std::vector<float> x{1, 2, 3, 4}, w{1, 10};
  for (const auto& [mode, want] : {std::pair{"SAME_UPPER", std::vector<double>{21, 32, 43, 4}},
                                   std::pair{"SAME_LOWER", std::vector<double>{10, 21, 32, 43}}}) {
    kernel_rig rig{11};
    rig.attribute("auto_pad", mode).input<float>({1, 1, 4}, x).input<float>({1, 1, 2}, w);
    REQUIRE(bool(rig.run<eps::conv<float>>({dtype::f32})));
    CHECK(test::near(rig.output<float>(0), want));
  }
}

TEST_CASE("no images, channels or outputs are valid; a NaN only reaches the outputs whose windows contain it") {
  const std::vector<float> none, w(18, 1.0f), x(9, std::numeric_limits<float>::quiet_NaN());
  kernel_rig empty{11};
  empty.input<float>({0, 2, 3, 3}, none).input<float>({1, 2, 3, 3}, w, true);
  REQUIRE(bool(empty.run<eps::conv<float>>({dtype::f32})));
  CHECK(empty.output<float>(0).shape() == extents{0, 1, 1, 1});

  kernel_rig channels{11};
  channels.input<float>({1, 0, 3, 3}, none).input<float>({2, 0, 3, 3}, none, true);
  REQUIRE(bool(channels.run<eps::conv<float>>({dtype::f32})));
  CHECK(test::near(channels.output<float>(0), {0, 0}));

  std::vector<float> one(25, 1.0f);
  one[0] = x[0];
  kernel_rig rig{11};
  rig.input<float>({1, 1, 5, 5}, one).input<float>({1, 1, 3, 3}, std::vector<float>(w.begin(), w.begin() + 9));
  const std::vector<float> nine(9, 1.0f);
  kernel_rig nan{11};
  nan.input<float>({1, 1, 5, 5}, one).input<float>({1, 1, 3, 3}, nine);
  REQUIRE(bool(nan.run<eps::conv<float>>({dtype::f32})));
  CHECK(std::isnan(nan.output<float>(0)[0]));
  CHECK(nan.output<float>(0)[1] == 9.0f);
}

TEST_CASE("invalid shapes and attributes are errors with a message") {
  const std::vector<float> x(9), w(16), b(3);
  const auto with = [&](auto change, status_code code, std::string_view words, extents w_shape = {1, 1, 2, 2}) {
    kernel_rig rig{11};
    change(rig.checked_as<op::Conv>());
    test::check_refused<eps::conv<float>>(rig.input<float>({1, 1, 3, 3}, x).input<float>(w_shape, w, true), code,
                                          words);
  };
  using cameo::test::ints;
  const auto nothing = [](kernel_rig&) {};
  with(nothing, status_code::invalid_argument, "the kernel reaches over 4 elements", {1, 1, 4, 4});
  with(nothing, status_code::invalid_argument, "channels", {1, 2, 2, 2});
  with(nothing, status_code::invalid_argument, "rank", {1, 1, 2});
  with([](kernel_rig& r) { r.attribute("group", std::int64_t{2}); }, status_code::invalid_argument,
       "multiple of group, 2");
  with([](kernel_rig& r) { r.attribute("group", std::int64_t{0}); }, status_code::invalid_graph, "group");
  with([](kernel_rig& r) { r.attribute("group", std::int64_t{-1}); }, status_code::invalid_graph, "group");
  with([](kernel_rig& r) { r.attribute("strides", ints{0, 1}); }, status_code::invalid_graph, "strides");
  with([](kernel_rig& r) { r.attribute("dilations", ints{1, -1}); }, status_code::invalid_graph, "dilations");
  with([](kernel_rig& r) { r.attribute("pads", ints{-1, 0, 0, 0}); }, status_code::invalid_graph, "pads");
  with([](kernel_rig& r) { r.attribute("pads", ints{0, 0, 0}); }, status_code::invalid_graph, "pads");
  with([](kernel_rig& r) { r.attribute("strides", ints{1}); }, status_code::invalid_argument, "strides");
  with([](kernel_rig& r) { r.attribute("kernel_shape", ints{3, 3}); }, status_code::invalid_argument, "kernel_shape");
  with([](kernel_rig& r) { r.attribute("auto_pad", "SOME"); }, status_code::invalid_graph, "auto_pad");
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  with([&](kernel_rig& r) { r.attribute("pads", ints{huge, huge, huge, huge}); }, status_code::invalid_argument,
       "overflow");
  with([&](kernel_rig& r) { r.attribute("dilations", ints{huge, huge}); }, status_code::invalid_argument, "overflow");
  with([&](kernel_rig& r) { r.attribute("pads", ints{huge >> 20, 0, 0, 0}); }, status_code::out_of_memory, "");
  kernel_rig bias{11};
  bias.input<float>({1, 1, 3, 3}, x).input<float>({1, 1, 2, 2}, w).input<float>({3}, b);
  test::check_refused<eps::conv<float>>(bias, status_code::invalid_argument, "bias");
}

TEST_CASE("a stride beyond the image leaves one output and reads nothing outside") {
  const std::int64_t far = std::int64_t{1} << 50;
  const std::vector<float> x(9, 1.0f), w(4, 1.0f);
  for (const std::int64_t channels : {1, 4}) {
    const std::vector<float> many(std::size_t(9 * channels), 1.0f), weights(std::size_t(4 * channels * 4), 1.0f);
    kernel_rig rig{11};
    rig.attribute("strides", std::vector<std::int64_t>{far, far})
        .attribute("pads", std::vector<std::int64_t>{1, 1, 0, 0});
    rig.input<float>({1, channels, 3, 3}, many).input<float>({4, channels, 2, 2}, weights);
    REQUIRE(bool(rig.run<eps::conv<float>>({dtype::f32})));
    CHECK(test::near(rig.output<float>(0), std::vector<double>(4, double(channels))));
  }
}
