#include <cameo/eps/cpu/resize.hpp>

#include "kernel_rig.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace cameo;
using cameo::test::elements_of;
using cameo::test::ints;
using cameo::test::kernel_rig;

TEST_CASE("nearest copies elements of any type, selected by rounding and coordinate modes") {
  const std::vector<std::uint8_t> x{10, 20, 30, 40};
  const std::vector<float> scales{0.5f}, none;
  const auto halved = [&](std::string_view rounding, std::string_view space) {
    kernel_rig rig{19};
    rig.attribute("nearest_mode", rounding).attribute("coordinate_transformation_mode", space);
    rig.input<std::uint8_t>({4}, x).no_input().input<float>({1}, scales);
    REQUIRE(rig.run<eps::resize>({dtype::u8}));
    return elements_of<std::uint8_t>(rig);
  };
  CHECK(halved("round_prefer_floor", "half_pixel") == std::vector<std::uint8_t>{10, 30});
  CHECK(halved("round_prefer_ceil", "half_pixel") == std::vector<std::uint8_t>{20, 40});
  CHECK(halved("floor", "asymmetric") == std::vector<std::uint8_t>{10, 30});
  CHECK(halved("ceil", "align_corners") == std::vector<std::uint8_t>{10, 40});

  SUBCASE("version 10 takes the upper element when it shrinks, Upsample the lower one") {
    const std::vector<float> two{1, 0.6f}, twice{2};
    const std::vector<std::int64_t> row{1, 2, 3, 4};
    kernel_rig old{10}, up{9};
    old.input<std::int64_t>({1, 4}, row).input<float>({2}, two);
    REQUIRE(old.run<eps::resize>({dtype::i64}));
    CHECK(elements_of<std::int64_t>(old) == ints{1, 3});
    up.input<std::int64_t>({4}, row).input<float>({1}, twice);
    REQUIRE(up.run<eps::upsample>({dtype::i64}));
    CHECK(elements_of<std::int64_t>(up) == ints{1, 1, 2, 2, 3, 3, 4, 4});
  }
}

TEST_CASE("linear and cubic keep a constant image, except that linear truncates integers; overshoot saturates") {
  const std::vector<std::uint8_t> flat(5 * 7, 201);
  for (const std::string_view mode : {"linear", "cubic"})
    for (const std::int64_t antialias : {0, 1})
      for (const std::int64_t exclude : {0, 1})
        for (const ints& to : {ints{2, 3}, ints{11, 7}, ints{1, 1}, ints{5, 20}}) {
          kernel_rig rig{19, 3};
          rig.attribute("mode", mode).attribute("antialias", antialias).attribute("exclude_outside", exclude);
          rig.input<std::uint8_t>({5, 7}, flat).no_input().no_input().input<std::int64_t>({2}, to);
          REQUIRE(rig.run<eps::resize>({dtype::u8}));
          const bool cuts = mode == "linear" && antialias == 0;
          for (const std::uint8_t v : elements_of<std::uint8_t>(rig)) CHECK((v == 201 || (cuts && v == 200)));
        }
  const std::vector<std::int8_t> edge{-128, 127};
  const std::vector<float> scales{2};
  kernel_rig rig{19};
  rig.attribute("mode", "cubic").input<std::int8_t>({2}, edge).no_input().input<float>({1}, scales);
  REQUIRE(rig.run<eps::resize>({dtype::i8}));
  CHECK(rig.output<std::int8_t>(0)[0] == -128);  // overshoot saturates
  CHECK(rig.output<std::int8_t>(0)[3] == 127);
}

TEST_CASE("wrong attributes and inputs of a resize are refused, and so are outputs that exceed all memory") {
  const std::vector<float> x(6, 1);
  const auto scaled = [&](std::vector<float> scales) {
    kernel_rig rig{19};
    rig.input<float>({2, 3}, x).no_input().input<float>({std::int64_t(scales.size())}, scales);
    return rig.run<eps::resize>({dtype::f32}).code();
  };
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (const float bad : {0.0f, -1.0f, nan, inf}) CHECK(scaled({1, bad}) == status_code::invalid_argument);
  CHECK(scaled({1}) == status_code::invalid_argument);
  CHECK(scaled({1e17f, 1e17f}) == status_code::out_of_memory);
  CHECK(scaled({1e-9f, 1}) == status_code::ok);  // an empty output is valid

  const ints negative{2, -3}, axes{1, 1};
  kernel_rig sized{19}, twice{19}, hollow{19};
  sized.input<float>({2, 3}, x).no_input().no_input().input<std::int64_t>({2}, negative);
  CHECK(sized.run<eps::resize>({dtype::f32}).code() == status_code::invalid_argument);
  const ints two{2, 2};
  twice.attribute("axes", axes).input<float>({2, 3}, x).no_input().no_input().input<std::int64_t>({2}, two);
  CHECK(twice.run<eps::resize>({dtype::f32}).code() == status_code::invalid_argument);
  const std::vector<float> empty;
  hollow.input<float>({0, 3}, empty).no_input().no_input().input<std::int64_t>({2}, two);
  CHECK(hollow.run<eps::resize>({dtype::f32}).code() == status_code::invalid_argument);
}

TEST_CASE("a region that is NaN or far away gives the extrapolation value") {
  const std::vector<float> x{1, 2, 3, 4}, scales{1.5f};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::vector<float>& roi :
       {std::vector<float>{nan, 1}, std::vector<float>{1e30f, 2e30f}, std::vector<float>{-9, -8}})
    for (const std::string_view mode : {"nearest", "linear", "cubic"}) {
      kernel_rig rig{19};
      rig.attribute("mode", mode).attribute("coordinate_transformation_mode", "tf_crop_and_resize");
      rig.attribute("extrapolation_value", 7.0f).input<float>({4}, x).input<float>({2}, roi).input<float>({1}, scales);
      REQUIRE(rig.run<eps::resize>({dtype::f32}));
      CHECK(elements_of<float>(rig) == std::vector<float>(6, 7));
    }
}

namespace {

/// The expected numbers in these cases are ONNX Runtime's.
template <class T>
std::vector<T> resized(const extents& shape, const std::vector<T>& x, const std::vector<float>& scales,
                       std::string_view mode, std::string_view space = "half_pixel", std::int64_t antialias = 0) {
  kernel_rig rig{19};
  rig.attribute("mode", mode).attribute("coordinate_transformation_mode", space).attribute("antialias", antialias);
  rig.input<T>(shape, x).no_input().template input<float>({std::int64_t(scales.size())}, scales);
  REQUIRE(rig.run<eps::resize>({dtype_of<T>}));
  return elements_of<T>(rig);
}

}  // namespace

TEST_CASE("the size of an output is the product in float, truncated: 5 times 2.6 is 13") {
  CHECK(resized<float>({5}, {1, 2, 3, 4, 5}, {2.6f}, "nearest").size() == 13);
  CHECK(resized<float>({10}, std::vector<float>(10), {1.3f}, "nearest").size() == 13);
  CHECK(resized<float>({10}, std::vector<float>(10), {0.7f}, "nearest").size() == 7);
}

TEST_CASE("linear truncates integers toward zero; with channels last, bytes have weights of ten bits") {
  CHECK(resized<std::int32_t>({1, 4}, {-10, -5, 0, 8}, {1, 2}, "linear") ==
        std::vector<std::int32_t>{-10, -8, -6, -3, -1, 2, 6, 8});
  CHECK(resized<std::int8_t>({1, 2, 2, 1}, {88, 34, 2, -60}, {1, 1.7f, 1.7f, 1}, "linear") ==
        std::vector<std::int8_t>{88, 67, 35, 55, 33, 0, 4, -18, -55});
}

TEST_CASE("antialias rounds bytes after each axis and clamps them to 0 and 255, signed or not") {
  CHECK(resized<std::uint8_t>({1, 4}, {0, 3, 255, 255}, {1, 2}, "cubic", "half_pixel", 1) ==
        std::vector<std::uint8_t>{0, 0, 0, 60, 198, 255, 255, 255});
  CHECK(resized<std::int8_t>({1, 4}, {-120, -128, 127, 127}, {1, 2}, "cubic", "half_pixel", 1) ==
        std::vector<std::int8_t>{0, 0, 0, 0, 69, -102, -120, 127});
}

TEST_CASE("a region does not apply to axes that keep their size: all of them, or an axis of scale 1") {
  const std::vector<float> x{1, 2, 3, 4, 5, 6}, roi{.2f, .2f, .7f, .7f}, same{1, 1};
  const ints sizes{2, 5};
  kernel_rig copied{19}, one{19};
  for (kernel_rig* rig : {&copied, &one})
    rig->attribute("mode", "linear").attribute("coordinate_transformation_mode", "tf_crop_and_resize");
  copied.input<float>({2, 3}, x).input<float>({4}, roi).input<float>({2}, same);
  REQUIRE(copied.run<eps::resize>({dtype::f32}));
  CHECK(elements_of<float>(copied) == x);
  one.input<float>({2, 3}, x).input<float>({4}, roi).no_input().input<std::int64_t>({2}, sizes);
  REQUIRE(one.run<eps::resize>({dtype::f32}));
  const std::vector<float> want{1.4f, 1.65f, 1.9f, 2.15f, 2.4f, 4.4f, 4.65f, 4.9f, 5.15f, 5.4f};
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(elements_of<float>(one)[i] == doctest::Approx(want[i]));
}
