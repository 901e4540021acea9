// Operators on channels in blocks of 16 against their definition over plain tensors.
#include <cameo/eps/cpu/detail/math_choice.hpp>
#include <cameo/eps/cpu/nchwc_conv.hpp>
#include <cameo/eps/cpu/nchwc_pool.hpp>
#include <cameo/eps/cpu/nchwc_reorder.hpp>
#include <cameo/op/nchwc.hpp>

#include "each_target.hpp"
#include "rig_checks.hpp"

#include <doctest/doctest.h>

using namespace cameo;
using cameo::test::axis_case;
using cameo::test::kernel_rig;

namespace {

std::int64_t rounded(std::int64_t channels) { return (channels + 15) / 16 * 16; }
extents blocked_shape(const extents& x) { return {x[0], rounded(x[1]), x[2], x[3]}; }

/// [N, C, H, W] as [N, C / 16, H, W, 16]; the lanes of the last block without a channel contain `rest`.
std::vector<float> to_blocks(const std::vector<float>& x, const extents& shape, float rest = 0) {
  const std::int64_t blocks = rounded(shape[1]) / 16, plane = shape[2] * shape[3];
  std::vector<float> y(std::size_t(shape[0] * blocks * 16 * plane), rest);
  for (std::int64_t n = 0; n < shape[0]; ++n)
    for (std::int64_t c = 0; c < shape[1]; ++c)
      for (std::int64_t i = 0; i < plane; ++i)
        y[std::size_t(((n * blocks + c / 16) * plane + i) * 16 + c % 16)] =
            x[std::size_t((n * shape[1] + c) * plane + i)];
  return y;
}

/// A random image and a window that fits it with its padding; kernels may be larger than the image.
struct image_case {
  std::int64_t images, channels;
  axis_case rows, columns;
  extents x() const { return {images, channels, rows.in, columns.in}; }
  extents y(std::int64_t maps) const { return {images, maps, rows.out(), columns.out()}; }
  void attributes(kernel_rig& rig) const {
    rig.attribute("strides", std::vector{rows.stride, columns.stride});
    rig.attribute("dilations", std::vector{rows.dilation, columns.dilation});
    rig.attribute("pads", std::vector{rows.pad_begin, columns.pad_begin, rows.pad_end, columns.pad_end});
    rig.attribute("kernel_shape", std::vector{rows.kernel, columns.kernel});
  }
  /// Calls f(pixel of X, tap) for the elements inside the image of the window of output (oy, ox).
  template <class F>
  void taps(std::int64_t oy, std::int64_t ox, const F& f) const {
    for (std::int64_t ky = 0; ky < rows.kernel; ++ky)
      for (std::int64_t kx = 0; kx < columns.kernel; ++kx) {
        const std::int64_t y = oy * rows.stride + ky * rows.dilation - rows.pad_begin;
        const std::int64_t x = ox * columns.stride + kx * columns.dilation - columns.pad_begin;
        if (y >= 0 && y < rows.in && x >= 0 && x < columns.in) f(y * columns.in + x, ky * columns.kernel + kx);
      }
  }
};

image_case random_image(std::mt19937& random, std::int64_t channels) {
  const auto upto = [&](int most) { return std::int64_t(random() % unsigned(most) + 1); };
  const auto one_axis = [&](int longest) {
    axis_case a{upto(longest), upto(4), upto(3), upto(2), upto(4) - 1, upto(4) - 1};
    if (random() % 3 == 0) a.kernel = 3, a.dilation = 1, a.stride = upto(2), a.pad_begin = a.pad_end = 1;
    if (random() % 6 == 0) a.kernel = 5, a.dilation = 1, a.stride = 1;
    if (random() % 12 == 0) a.kernel = 9, a.pad_begin = a.pad_end = 9;
    const std::int64_t span = (a.kernel - 1) * a.dilation + 1;
    a.in = std::max(a.in, span - a.pad_begin - a.pad_end);
    return a;
  };
  image_case k{upto(2), channels, one_axis(9), one_axis(36)};
  if (random() % 4 == 0) k.rows = {k.rows.in, 1, 1, 1, 0, 0}, k.columns = {k.columns.in, 1, 1, 1, 0, 0};
  if (random() % 8 == 0) k.rows = {k.rows.in, 1, 2, 1, 0, 0}, k.columns = {k.columns.in, 1, 2, 1, 0, 0};
  return k;
}

/// The activations by the definition of ONNX's operators with these names.
double activated(std::string_view name, double v) {
  if (name == "Relu") return std::max(v, 0.0);
  if (name == "LeakyRelu") return v < 0 ? 0.25 * v : v;
  if (name == "Clip") return std::clamp(v, -0.5, 0.75);
  if (name == "HardSigmoid") return std::clamp(0.3 * v + 0.6, 0.0, 1.0);
  if (name == "Sigmoid") return 1 / (1 + std::exp(-v));
  if (name == "Tanh") return std::tanh(v);
  if (name == "Elu") return v < 0 ? std::expm1(v) : v;
  if (name == "Softplus") return std::log1p(std::exp(v));
  return v;
}
std::vector<float> parameters_of(std::string_view name) {
  if (name == "LeakyRelu") return {0.25f};
  if (name == "Clip") return {-0.5f, 0.75f};
  if (name == "HardSigmoid") return {0.3f, 0.6f};
  return {};
}

struct blocked_conv {
  image_case image;
  std::int64_t groups, maps;  // `maps` is the number for all groups
  bool plain, bias, add, constant;
  std::string_view activation;
  std::vector<float> x{}, w{}, b{}, z{};
  extents w_shape() const { return {maps, image.channels / groups, image.rows.kernel, image.columns.kernel}; }
  void fill(std::mt19937& random) {
    x = test::random_numbers<float>(random, image.x().count());
    w = test::random_numbers<float>(random, w_shape().count());
    if (bias) b = test::random_numbers<float>(random, maps);
    if (add) z = test::random_numbers<float>(random, image.y(maps).count());
  }
};

blocked_conv random_blocked_conv(std::mt19937& random) {
  const auto upto = [&](int most) { return std::int64_t(random() % unsigned(most) + 1); };
  constexpr std::string_view activations[] = {"",        "",     "Relu", "LeakyRelu", "Clip", "HardSigmoid",
                                              "Sigmoid", "Tanh", "Elu",  "Softplus"};
  blocked_conv k{
      {}, 1, upto(100), false, random() % 2 == 0, random() % 3 == 0, random() % 4 != 0, activations[random() % 10]};
  std::int64_t channels = upto(70);
  switch (random() % 4) {
    case 0: channels = upto(15), k.plain = random() % 3 != 0; break;
    case 1: k.groups = upto(3), channels = k.groups * 16 * upto(2), k.maps = k.groups * 16 * upto(3); break;
    case 2: channels = k.groups = k.maps = upto(50) + 1; break;
    default: break;
  }
  k.image = random_image(random, channels);
  k.fill(random);
  return k;
}

std::vector<double> naive_blocked_conv(const blocked_conv& k) {
  const extents y = k.image.y(k.maps);
  const std::int64_t in = k.image.rows.in * k.image.columns.in, channels = k.image.channels / k.groups;
  const std::int64_t taps = k.image.rows.kernel * k.image.columns.kernel, maps = k.maps / k.groups;
  std::vector<double> want;
  for (std::int64_t n = 0; n < y[0]; ++n)
    for (std::int64_t m = 0; m < k.maps; ++m)
      for (std::int64_t oy = 0; oy < y[2]; ++oy)
        for (std::int64_t ox = 0; ox < y[3]; ++ox) {
          double sum = k.bias ? double(k.b[std::size_t(m)]) : 0;
          for (std::int64_t c = 0; c < channels; ++c)
            k.image.taps(oy, ox, [&](std::int64_t pixel, std::int64_t tap) {
              const std::int64_t plane = n * k.image.channels + m / maps * channels + c;
              sum += double(k.x[std::size_t(plane * in + pixel)]) *
                     double(k.w[std::size_t((m * channels + c) * taps + tap)]);
            });
          if (k.add) sum += double(k.z[want.size()]);
          want.push_back(activated(k.activation, sum));
        }
  return want;
}

/// The output of the kernel, perhaps written over the addend. Lanes of X without a channel contain NaN.
std::vector<float> run_blocked_conv(const blocked_conv& k, std::size_t lanes, std::uint32_t choice = 0,
                                    bool over = false) {
  const extents x = k.image.x(), y = k.image.y(k.maps);
  const std::vector<float> blocks = k.plain ? k.x : to_blocks(k.x, x, k.groups == 1 ? NAN : 0.0f);
  const std::vector<float> z = k.add ? to_blocks(k.z, y, 7) : std::vector<float>{};
  kernel_rig rig{1, lanes};
  rig.choose(choice);
  k.image.attributes(rig);
  rig.attribute("group", k.groups);
  rig.attribute("plain_weights", std::int64_t{1});
  const std::vector<float> parameters = parameters_of(k.activation);
  if (!k.activation.empty()) rig.attribute("activation", k.activation);
  if (!parameters.empty()) rig.attribute("activation_params", parameters);
  rig.input(k.plain ? x : blocked_shape(x), blocks).input(k.w_shape(), k.w, k.constant);
  rig.input_if(k.bias, {k.maps}, k.b, k.constant);
  if (k.add) rig.input(blocked_shape(y), z);
  if (over) rig.overwrite(3);
  test::run_ok<eps::nchwc_conv>(rig, {dtype::f32});
  const tensor_view<const float> made = rig.output<float>(0);
  REQUIRE(made.shape() == blocked_shape(y));
  return {made.begin(), made.end()};
}

bool same_numbers(const std::vector<float>& got, const std::vector<double>& want, const extents& shape) {
  std::vector<float> rounded_want(want.begin(), want.end());
  const std::vector<float> all = to_blocks(rounded_want, shape);
  if (got.size() != all.size()) return false;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!(std::abs(got[i] - all[i]) <= 2e-4f * (1 + std::abs(all[i])))) return false;
  return true;
}

}  // namespace

TEST_CASE("nchwc Conv: random shapes, channels, groups, strides, dilations, pads and epilogues on each target") {
  test::for_each_target([] {
    std::mt19937 random{7};
    for (int i = 0; i < 250; ++i) {
      const blocked_conv k = random_blocked_conv(random);
      INFO("case ", i, ", maps ", k.maps, ", groups ", k.groups);
      const std::vector<float> one = run_blocked_conv(k, 1);
      REQUIRE(same_numbers(one, naive_blocked_conv(k), k.image.y(k.maps)));
      REQUIRE(one == run_blocked_conv(k, 3));
    }
  });
}

TEST_CASE("nchwc Conv in bfloat16 sums the products of rounded numbers, with the same bits for any number of threads") {
  if (test::no_bf16_here()) return;
  std::mt19937 random{9};
  const auto round = [](std::vector<float>& numbers) {
    for (float& x : numbers) x = float(bfloat16{x});
  };
  int others = 0;
  for (int i = 0; i < 300; ++i) {
    blocked_conv k = random_blocked_conv(random);
    INFO("case ", i, ", maps ", k.maps, ", groups ", k.groups, ", channels ", k.image.channels);
    const bool depthwise = k.groups > 1 && k.groups == k.image.channels && k.groups == k.maps;
    const bool asked = k.constant && !depthwise;
    const std::vector<float> one = run_blocked_conv(k, 1, eps::cpu_math_is_bf16);
    REQUIRE(one == run_blocked_conv(k, 3, eps::cpu_math_is_bf16));
    const bool differs = one != run_blocked_conv(k, 1);
    REQUIRE((asked || !differs));
    others += int(differs);
    round(k.x), round(k.w);
    REQUIRE(same_numbers(run_blocked_conv(k, 1, eps::cpu_math_is_bf16), naive_blocked_conv(k), k.image.y(k.maps)));
  }
  CHECK(others > 50);  // bfloat16 was requested, and computed
}

TEST_CASE("nchwc Conv: weights in ONNX Runtime's packed layout are bound, and refused when the kernel runs") {
  kernel_rig rig{1};
  rig.input({1, 16, 1, 1}, std::vector<float>(16, 1)).input({16, 16, 1, 1}, std::vector<float>(256, 1), true);
  const status done = rig.run<eps::nchwc_conv>({dtype::f32});
  CHECK(done.code() == status_code::not_implemented);
  CHECK(done.words().find("NchwcTransformer disabled") != std::string_view::npos);
}

TEST_CASE("nchwc Conv: lines and blocks of every width") {
  test::for_each_target([] {
    std::mt19937 random{8};
    for (std::int64_t width = 1; width <= 34; ++width)
      for (const std::int64_t maps : {9, 32, 48, 80}) {
        const std::int64_t kernel = width % 2 ? 3 : 1;
        const image_case image{
            1, 5 + width, {3, kernel, 1, 1, kernel / 2, kernel / 2}, {width, kernel, 1, 1, kernel / 2, kernel / 2}};
        blocked_conv k{image, 1, maps, false, true, width % 3 == 0, true, "Relu"};
        k.fill(random);
        INFO("width ", width, ", maps ", maps);
        REQUIRE(same_numbers(run_blocked_conv(k, 1), naive_blocked_conv(k), k.image.y(maps)));
      }
  });
}

TEST_CASE("nchwc Conv may be written over its addend") {
  test::for_each_target([] {
    std::mt19937 random{10};
    for (int i = 0; i < 100; ++i) {
      blocked_conv k = random_blocked_conv(random);
      if (!k.add) k.add = true, k.z = test::random_numbers<float>(random, k.image.y(k.maps).count());
      for (const std::uint32_t choice : {0u, eps::cpu_math_is_bf16})
        REQUIRE(run_blocked_conv(k, 3, choice) == run_blocked_conv(k, 3, choice, true));
    }
  });
}

TEST_CASE("nchwc Conv may be written over its addend if that is also X") {
  std::mt19937 random{11};
  for (const std::int64_t groups : {1, 32}) {
    const auto x = test::random_numbers<float>(random, 32 * 6 * 7);
    const auto w = test::random_numbers<float>(random, 32 * (32 / groups) * 9);
    const auto run = [&](bool over) {
      kernel_rig rig{1};
      rig.attribute("group", groups).attribute("pads", std::vector<std::int64_t>{1, 1, 1, 1});
      rig.attribute("plain_weights", std::int64_t{1}).input({1, 32, 6, 7}, x).input({32, 32 / groups, 3, 3}, w, true);
      rig.no_input().input({1, 32, 6, 7}, x);
      if (over) rig.overwrite(3);
      REQUIRE(bool(rig.run<eps::nchwc_conv>({dtype::f32})));
      return test::elements_of<float>(rig);
    };
    CHECK(run(false) == run(true));
  }
}

TEST_CASE("nchwc Conv: large weights, which are prefetched, also with groups") {
  std::mt19937 random{14};
  for (const std::int64_t groups : {1, 2}) {
    const std::int64_t channels = 256 * groups, maps = 112 * groups;
    blocked_conv k{{1, channels, {5, 3, 1, 1, 1, 1}, {9, 3, 1, 1, 1, 1}}, groups, maps, false, false, false, true, ""};
    k.fill(random);
    const std::vector<float> one = run_blocked_conv(k, 1);
    CHECK(same_numbers(one, naive_blocked_conv(k), k.image.y(maps)));
    CHECK(one == run_blocked_conv(k, 2));
  }
}

TEST_CASE("nchwc Conv: enough work for several lanes gives the same bits") {
  test::for_each_target([] {
    std::mt19937 random{9};
    for (const bool depthwise : {false, true})
      for (const std::int64_t stride : {1, 2}) {
        const std::int64_t channels = 64;
        const image_case image{1, channels, {57, 3, stride, 1, 1, 1}, {55, 3, stride, 1, 1, 1}};
        blocked_conv k{image, depthwise ? channels : 1, channels, false, true, true, true, "Relu"};
        k.fill(random);
        const std::vector<float> one = run_blocked_conv(k, 1);
        CHECK(same_numbers(one, naive_blocked_conv(k), k.image.y(channels)));
        CHECK(one == run_blocked_conv(k, 2));
        CHECK(one == run_blocked_conv(k, 5));
      }
  });
}

TEST_CASE("nchwc pools: random windows on each target") {
  test::for_each_target([] {
    std::mt19937 random{10};
    for (int i = 0; i < 120; ++i) {
      const image_case k = random_image(random, 16 * std::int64_t(random() % 4 + 1));
      const bool mean = i % 2, include = i % 4 == 1;
      const auto x = test::random_numbers<float>(random, k.x().count());
      const std::int64_t in = k.rows.in * k.columns.in;
      std::vector<double> want;
      for (std::int64_t plane = 0; plane < k.images * k.channels; ++plane)
        for (std::int64_t oy = 0; oy < k.rows.out(); ++oy)
          for (std::int64_t ox = 0; ox < k.columns.out(); ++ox) {
            double most = -HUGE_VAL, sum = 0, count = 0;
            k.taps(oy, ox, [&](std::int64_t pixel, std::int64_t) {
              const double v = double(x[std::size_t(plane * in + pixel)]);
              most = std::max(most, v), sum += v, ++count;
            });
            if (include) count = double(k.rows.kernel * k.columns.kernel);
            want.push_back(!mean ? most : count > 0 ? sum / count : 0);
          }
      const std::vector<float> blocks = to_blocks(x, k.x());
      const auto run = [&](std::size_t lanes) {
        kernel_rig rig{1, lanes};
        k.attributes(rig);
        if (include) rig.attribute("count_include_pad", std::int64_t{1});
        rig.input(k.x(), blocks);
        REQUIRE((mean ? rig.run<eps::nchwc_average_pool>({dtype::f32}) : rig.run<eps::nchwc_max_pool>({dtype::f32})));
        return test::elements_of<float>(rig);
      };
      const std::vector<float> one = run(1), all = to_blocks({want.begin(), want.end()}, k.y(k.channels));
      REQUIRE(one.size() == all.size());
      bool same = true;
      for (std::size_t e = 0; e < all.size(); ++e)
        same = same && (one[e] == all[e] || std::abs(one[e] - all[e]) <= 1e-5f);
      CAPTURE(i);
      CHECK(same);
      CHECK(one == run(4));
    }
  });
}

TEST_CASE("nchwc global pools") {
  test::for_each_target([] {
    std::mt19937 random{11};
    for (const std::int64_t width : {1, 3, 4, 7, 30}) {
      const extents shape{2, 48, 3, width};
      const auto x = test::random_numbers<float>(random, shape.count());
      const std::vector<float> blocks = to_blocks(x, shape);
      kernel_rig mean{1}, most{1};
      mean.input(shape, blocks), most.input(shape, blocks);
      REQUIRE(mean.run<eps::nchwc_global_average_pool>({dtype::f32}));
      REQUIRE(most.run<eps::nchwc_global_max_pool>({dtype::f32}));
      CHECK(mean.output<float>(0).shape() == extents{2, 48, 1, 1});
      for (std::int64_t p = 0; p < 96; ++p) {
        double sum = 0, largest = -HUGE_VAL;
        for (std::int64_t i = 0; i < 3 * width; ++i) {
          const double v = double(x[std::size_t(p * 3 * width + i)]);
          sum += v, largest = std::max(largest, v);
        }
        CHECK(double(mean.output<float>(0)[p]) == doctest::Approx(sum / double(3 * width)));
        CHECK(double(most.output<float>(0)[p]) == largest);
      }
    }
  });
}

TEST_CASE("nchwc ReorderInput and ReorderOutput, also with channels last") {
  test::for_each_target([] {
    std::mt19937 random{12};
    for (int i = 0; i < 80; ++i) {
      const extents shape{std::int64_t(random() % 2 + 1), std::int64_t(random() % 60 + 1), std::int64_t(random() % 5),
                          std::int64_t(random() % 40 + 1)};
      const bool last = i % 2;
      const auto x = test::random_numbers<float>(random, shape.count());
      const std::int64_t plane = shape[2] * shape[3];
      std::vector<float> given(x.size());
      for (std::size_t e = 0; e < x.size(); ++e) {
        const std::int64_t at = std::int64_t(e), p = at % plane, c = at / plane % shape[1], n = at / plane / shape[1];
        given[last ? std::size_t((n * plane + p) * shape[1] + c) : e] = x[e];
      }
      const extents given_shape = last ? extents{shape[0], shape[2], shape[3], shape[1]} : shape;
      kernel_rig in{1, 3};
      in.attribute("channels_last", std::int64_t(last)).input(given_shape, given);
      REQUIRE(in.run<eps::nchwc_reorder_input>({dtype::f32}));
      const tensor_view<const float> y = in.output<float>(0);
      REQUIRE(y.shape() == blocked_shape(shape));
      const std::vector<float> blocks(y.begin(), y.end());
      CHECK(blocks == to_blocks(x, shape));
      kernel_rig out{1, 2};
      out.attribute("channels_last", std::int64_t(last)).attribute("channels", shape[1]);
      out.input(blocked_shape(shape), blocks);
      REQUIRE(out.run<eps::nchwc_reorder_output>({dtype::f32}));
      const tensor_view<const float> back = out.output<float>(0);
      REQUIRE(back.shape() == given_shape);
      CHECK(std::vector<float>(back.begin(), back.end()) == given);
    }
  });
}

TEST_CASE("nchwc Upsample: nearest and linear") {
  std::mt19937 random{13};
  const extents shape{1, 16, 3, 4};
  const auto x = test::random_numbers<float>(random, shape.count());
  const std::vector<float> blocks = to_blocks(x, shape);
  for (const std::string_view points : {"nearest", "asymmetric", "align_corners", "half_pixel"}) {
    CAPTURE(points);
    kernel_rig rig{1};
    rig.attribute("scales", std::vector<std::int64_t>{1, 1, 2, 3});
    if (points != "nearest") rig.attribute("mode", "linear").attribute("coordinate_transformation_mode", points);
    rig.input(shape, blocks);
    REQUIRE(rig.run<eps::nchwc_upsample>({dtype::f32}));
    const tensor_view<const float> y = rig.output<float>(0);
    REQUIRE(y.shape() == extents{1, 16, 6, 12});
    const auto place = [&](std::int64_t o, double scale, std::int64_t in, std::int64_t out) {
      double at = double(o) / scale;
      if (points == "nearest") at = std::floor(at);
      if (points == "align_corners") at = double(o * (in - 1)) / double(out - 1);
      if (points == "half_pixel") at = (double(o) + 0.5) / scale - 0.5;
      return std::clamp(at, 0.0, double(in - 1));
    };
    for (std::int64_t c = 0; c < 16; ++c)
      for (std::int64_t oy = 0; oy < 6; ++oy)
        for (std::int64_t ox = 0; ox < 12; ++ox) {
          const double py = place(oy, 2, 3, 6), px = place(ox, 3, 4, 12);
          const auto at = [&](double a, double b) {
            return double(x[std::size_t((c * 3 + std::int64_t(a)) * 4 + std::int64_t(b))]);
          };
          const double y0 = std::floor(py), x0 = std::floor(px), y1 = std::min(y0 + 1, 2.0), x1 = std::min(x0 + 1, 3.0);
          const double top = at(y0, x0) + (px - x0) * (at(y0, x1) - at(y0, x0));
          const double low = at(y1, x0) + (px - x0) * (at(y1, x1) - at(y1, x0));
          CHECK(double(y[(oy * 12 + ox) * 16 + c]) == doctest::Approx(top + (py - y0) * (low - top)).epsilon(1e-5));
        }
  }
}

TEST_CASE("nchwc operators refuse what does not fit") {
  const std::vector<float> numbers(16 * 9 * 64);
  const auto conv = [&](const extents& x, const extents& w, std::int64_t group, const extents& sum = {}) {
    kernel_rig rig{1};
    rig.checked_as<op::nchwc::Conv>().attribute("group", group).attribute("plain_weights", std::int64_t{1});
    rig.input(x, numbers).input(w, numbers, true).no_input();
    if (sum.rank()) rig.input(sum, numbers);
    return rig.run<eps::nchwc_conv>({dtype::f32}).code();
  };
  using enum status_code;
  CHECK(conv({1, 16, 3, 3}, {16, 16, 3, 3}, 1) == ok);
  CHECK(conv({1, 16, 3, 3}, {16, 17, 3, 3}, 1) == invalid_argument);
  CHECK(conv({1, 17, 3, 3}, {16, 17, 3, 3}, 1) == invalid_argument);
  CHECK(conv({1, 16, 3}, {16, 16, 3}, 1) == invalid_argument);
  CHECK(conv({1, 16, 2, 2}, {16, 16, 3, 3}, 1) == invalid_argument);
  CHECK(conv({1, 32, 3, 3}, {16, 8, 3, 3}, 4) == invalid_argument);
  CHECK(conv({1, 16, 3, 3}, {16, 16, 3, 3}, 0) == invalid_graph);
  CHECK(conv({1, 16, 3, 3}, {16, 16, 3, 3}, 3) == invalid_argument);
  CHECK(conv({1, 16, 3, 3}, {16, 16, 3, 3}, 1, {1, 16, 2, 1}) == invalid_argument);
  CHECK(conv({0, 16, 3, 3}, {16, 16, 3, 3}, 1) == ok);
  CHECK(conv({1, 16, 3, 3}, {0, 16, 3, 3}, 1) == ok);
  kernel_rig pool{1};
  pool.checked_as<op::nchwc::MaxPool>().attribute("kernel_shape", std::vector<std::int64_t>{2, 2});
  pool.input({1, 15, 3, 3}, numbers);
  CHECK(pool.run<eps::nchwc_max_pool>({dtype::f32}).code() == invalid_argument);
  kernel_rig out{1};
  out.attribute("channels", std::int64_t{16}).input({1, 32, 3, 3}, numbers);
  CHECK(out.run<eps::nchwc_reorder_output>({dtype::f32}).code() == invalid_argument);
  kernel_rig up{1};
  up.attribute("scales", std::vector<std::int64_t>{1, 2, 2, 2}).input({1, 16, 3, 3}, numbers);
  CHECK(up.run<eps::nchwc_upsample>({dtype::f32}).code() == invalid_graph);
}
