#include <cameo/eps/cpu/conv_transpose.hpp>
#include <cameo/op/onnx.hpp>

#include "rig_checks.hpp"

#include <doctest/doctest.h>

using namespace cameo;
using cameo::test::ints;
using cameo::test::kernel_rig;

namespace {

struct transposed_axis {
  std::int64_t in, kernel, stride, dilation, pad_begin, pad_end, extra;
  std::int64_t out() const { return (in - 1) * stride + (kernel - 1) * dilation + 1 + extra - pad_begin - pad_end; }
};

}  // namespace

TEST_CASE("ConvTranspose adds each element times the kernel to the output, for random shapes, groups and threads") {
  std::mt19937 random{1};
  const auto upto = [&](int most) { return std::int64_t(random() % unsigned(most) + 1); };
  for (int i = 0; i < 200; ++i) {
    const std::int64_t images = upto(2), groups = upto(3), channels = upto(4), rows = upto(4),
                       rank = upto(2) + (i % 9 == 0);
    std::vector<transposed_axis> axes;
    for (std::int64_t r = 0; r < rank; ++r) {
      transposed_axis a{upto(9), upto(4), upto(3), upto(2), upto(2) - 1, upto(2) - 1, 0};
      a.extra = std::int64_t(random()) % a.stride;
      while (a.out() < 1) a.pad_begin = a.pad_end = 0, ++a.in;
      axes.push_back(a);
    }
    extents x_shape{images, groups * channels}, w_shape{groups * channels, rows}, y_shape{images, groups * rows};
    ints strides, dilations, pads, ends, extra;
    for (const transposed_axis& a : axes) {
      x_shape.push_back(a.in), w_shape.push_back(a.kernel), y_shape.push_back(a.out());
      strides.push_back(a.stride), dilations.push_back(a.dilation), pads.push_back(a.pad_begin);
      ends.push_back(a.pad_end), extra.push_back(a.extra);
    }
    pads.insert(pads.end(), ends.begin(), ends.end());
    const auto x = test::random_numbers<float>(random, x_shape.count()),
               w = test::random_numbers<float>(random, w_shape.count());
    const auto b = test::random_numbers<float>(random, groups * rows);
    const std::int64_t in = x_shape.count(2, x_shape.rank()), taps = w_shape.count(2, w_shape.rank());
    const std::int64_t out = y_shape.count(2, y_shape.rank());
    std::vector<double> want(std::size_t(y_shape.count()));
    for (std::int64_t at = 0; at < y_shape.count(); ++at)
      want[std::size_t(at)] = double(b[std::size_t(at / out % (groups * rows))]);
    for (std::int64_t n = 0; n < images * groups; ++n)
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t m = 0; m < rows; ++m)
          for (std::int64_t p = 0; p < in; ++p)
            for (std::int64_t t = 0; t < taps; ++t) {
              std::int64_t rest_p = p, rest_t = t, to = 0, scale = 1;
              bool inside = true;
              for (std::size_t r = axes.size(); r-- > 0;) {
                const transposed_axis& a = axes[r];
                const std::int64_t q = rest_p % a.in * a.stride + rest_t % a.kernel * a.dilation - a.pad_begin;
                inside = inside && q >= 0 && q < a.out();
                to += q * scale, scale *= a.out(), rest_p /= a.in, rest_t /= a.kernel;
              }
              if (inside)
                want[std::size_t((n * rows + m) * out + to)] +=
                    double(x[std::size_t((n * channels + c) * in + p)]) *
                    double(w[std::size_t(((n % groups * channels + c) * rows + m) * taps + t)]);
            }
    CAPTURE(i);
    kernel_rig rig{11, i % 2 ? 1u : 3u};
    rig.attribute("strides", strides).attribute("dilations", dilations).attribute("pads", pads);
    rig.attribute("group", groups);
    if (i % 3) {
      rig.attribute("output_padding", extra);
    } else {  // the same padding, given by output_shape
      ints shape(y_shape.begin() + 2, y_shape.end());
      bool same = true;
      for (const transposed_axis& a : axes) {
        const std::int64_t total = a.pad_begin + a.pad_end;
        same = same && a.pad_begin == total - total / 2;
      }
      rig.attribute("output_padding", extra);
      if (same) rig.attribute("output_shape", shape);
    }
    rig.input<float>(x_shape, x).input<float>(w_shape, w).input<float>({groups * rows}, b);
    test::run_ok<eps::conv_transpose<float>>(rig, {dtype::f32});
    CHECK(rig.output<float>(0).shape() == y_shape);
    CHECK(test::near(rig.output<float>(0), want));
  }
}

namespace {

/// ConvTranspose in 16 bits gives the bits of ConvTranspose in float, rounded once at the end.
template <class T>
void compare_narrow(const extents& x, const extents& w, std::int64_t groups, std::mt19937& random) {
  const auto set = [&](kernel_rig& rig) { rig.attribute("strides", ints{2, 1}).attribute("group", groups); };
  test::check_like_float<T, eps::conv_transpose>(11, {x, w, {w[1] * groups}}, random, set, test::no_constants);
}

}  // namespace

TEST_CASE("images and weights of 16 bits give the same bits as in float") {
  std::mt19937 random{2};
  for (const std::int64_t groups : {1, 2})
    for (const std::int64_t channels : {1, 5, 40})
      for (const std::int64_t line : {1, 7, 31}) {
        INFO(groups << " groups of " << channels << ", lines of " << line);
        const extents x{2, groups * channels, 7, line}, w{groups * channels, 3, 3, 2};
        compare_narrow<float16>(x, w, groups, random);
        compare_narrow<bfloat16>(x, w, groups, random);
      }
}

TEST_CASE("SAME makes the output stride times as long") {
  const std::vector<float> x{1, 2, 3}, w{1, 10, 100};
  for (const auto& [mode, want] : {std::pair{"SAME_UPPER", std::vector<double>{1, 10, 102, 20, 203, 30}},
                                   std::pair{"SAME_LOWER", std::vector<double>{10, 102, 20, 203, 30, 300}}}) {
    kernel_rig rig{11};
    rig.attribute("auto_pad", mode).attribute("strides", ints{2}).input<float>({1, 1, 3}, x).input<float>({1, 1, 3}, w);
    REQUIRE(bool(rig.run<eps::conv_transpose<float>>({dtype::f32})));
    CHECK(test::near(rig.output<float>(0), want));
  }
}

TEST_CASE("SAME adds nothing if the windows end before stride times the length; it removes what output_padding adds") {
  const auto y = [](std::string_view mode, const std::vector<float>& w, std::int64_t stride, std::int64_t extra) {
    kernel_rig rig{11};
    rig.attribute("auto_pad", mode).attribute("strides", ints{stride}).attribute("output_padding", ints{extra});
    const std::vector<float> x{1, 2};
    rig.input<float>({1, 1, 2}, x).input<float>({1, 1, std::int64_t(w.size())}, w);
    REQUIRE(bool(rig.run<eps::conv_transpose<float>>({dtype::f32})));
    return test::elements_of<float>(rig);
  };
  // The expected numbers are ONNX Runtime's.
  CHECK(y("SAME_UPPER", {3}, 3, 0) == std::vector<float>{3, 0, 0, 6});
  CHECK(y("SAME_LOWER", {3}, 3, 1) == std::vector<float>{3, 0, 0, 6, 0});
  CHECK(y("SAME_LOWER", {3, 4, 5, 6}, 2, 1) == std::vector<float>{11, 14, 10, 12});
  CHECK(y("SAME_UPPER", {3, 4, 5, 6}, 2, 1) == std::vector<float>{4, 11, 14, 10});
}

TEST_CASE("ConvTranspose reports what does not fit") {
  const std::vector<float> x(9), w(9);
  const auto with = [&](auto change, const extents& w_shape, status_code code) {
    kernel_rig rig{11};
    change(rig.checked_as<op::ConvTranspose>());
    rig.input<float>({1, 1, 3, 3}, x).input<float>(w_shape, w);
    const status s = rig.run<eps::conv_transpose<float>>({dtype::f32});
    CHECK_MESSAGE(s.code() == code, s.words());
    CHECK((s.code() == status_code::out_of_memory || !s.words().empty()));
  };
  const auto nothing = [](kernel_rig&) {};
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  with(nothing, {2, 1, 2, 2}, status_code::invalid_argument);
  with(nothing, {1, 1, 2}, status_code::invalid_argument);
  with([](kernel_rig& r) { r.attribute("group", std::int64_t{0}); }, {1, 1, 2, 2}, status_code::invalid_graph);
  with([](kernel_rig& r) { r.attribute("pads", ints{9, 9, 9, 9}); }, {1, 1, 2, 2}, status_code::invalid_argument);
  with([](kernel_rig& r) { r.attribute("output_padding", ints{-1, 0}); }, {1, 1, 2, 2}, status_code::invalid_graph);
  with([](kernel_rig& r) { r.attribute("output_shape", ints{-1, 4}); }, {1, 1, 2, 2}, status_code::invalid_graph);
  with([&](kernel_rig& r) { r.attribute("strides", ints{huge, 1}); }, {1, 1, 2, 2}, status_code::invalid_argument);
  with([&](kernel_rig& r) { r.attribute("strides", ints{huge >> 20, 1}); }, {1, 1, 2, 2}, status_code::out_of_memory);
}
