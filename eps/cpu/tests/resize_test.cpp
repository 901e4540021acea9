#include <cameo/eps/cpu/resize.hpp>

#include "kernel_rig.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace cameo;
using cameo::test::kernel_rig;
using list = std::vector<std::int64_t>;

namespace {

template <class T>
std::vector<T> all(const kernel_rig& rig) {
  return {rig.output<T>(0).begin(), rig.output<T>(0).end()};
}

}  // namespace

TEST_CASE("nearest moves any element; the rounding and the coordinates say which") {
  const std::vector<std::uint8_t> x{10, 20, 30, 40};
  const std::vector<float> scales{0.5f}, none;
  const auto halved = [&](std::string_view rounding, std::string_view space) {
    kernel_rig rig{19};
    rig.attribute("nearest_mode", rounding).attribute("coordinate_transformation_mode", space);
    rig.input<std::uint8_t>({4}, x).no_input().input<float>({1}, scales);
    REQUIRE(rig.run<eps::resize>({dtype::u8}));
    return all<std::uint8_t>(rig);
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
    CHECK(all<std::int64_t>(old) == list{1, 3});
    up.input<std::int64_t>({4}, row).input<float>({1}, twice);
    REQUIRE(up.run<eps::upsample>({dtype::i64}));
    CHECK(all<std::int64_t>(up) == list{1, 1, 2, 2, 3, 3, 4, 4});
  }
}

TEST_CASE("linear and cubic keep a constant image; integers are rounded, not cut") {
  const std::vector<std::uint8_t> flat(5 * 7, 201);
  for (const std::string_view mode : {"linear", "cubic"})
    for (const std::int64_t antialias : {0, 1})
      for (const std::int64_t exclude : {0, 1})
        for (const list& to : {list{2, 3}, list{11, 7}, list{1, 1}, list{5, 20}}) {
          kernel_rig rig{19, 3};
          rig.attribute("mode", mode).attribute("antialias", antialias).attribute("exclude_outside", exclude);
          rig.input<std::uint8_t>({5, 7}, flat).no_input().no_input().input<std::int64_t>({2}, to);
          REQUIRE(rig.run<eps::resize>({dtype::u8}));
          CHECK(all<std::uint8_t>(rig) == std::vector<std::uint8_t>(std::size_t(to[0] * to[1]), 201));
        }
  const std::vector<std::int8_t> edge{-128, 127};
  const std::vector<float> scales{2};
  kernel_rig rig{19};
  rig.attribute("mode", "cubic").input<std::int8_t>({2}, edge).no_input().input<float>({1}, scales);
  REQUIRE(rig.run<eps::resize>({dtype::i8}));
  CHECK(rig.output<std::int8_t>(0)[0] == -128);  // overshoot saturates
  CHECK(rig.output<std::int8_t>(0)[3] == 127);
}

TEST_CASE("what a model may say wrongly about a resize is refused, and so is what no memory could hold") {
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
  CHECK(scaled({1e-9f, 1}) == status_code::ok);  // an empty output

  const list negative{2, -3}, axes{1, 1};
  kernel_rig sized{19}, twice{19}, hollow{19};
  sized.input<float>({2, 3}, x).no_input().no_input().input<std::int64_t>({2}, negative);
  CHECK(sized.run<eps::resize>({dtype::f32}).code() == status_code::invalid_argument);
  const list two{2, 2};
  twice.attribute("axes", axes).input<float>({2, 3}, x).no_input().no_input().input<std::int64_t>({2}, two);
  CHECK(twice.run<eps::resize>({dtype::f32}).code() == status_code::invalid_argument);
  const std::vector<float> empty;
  hollow.input<float>({0, 3}, empty).no_input().no_input().input<std::int64_t>({2}, two);
  CHECK(hollow.run<eps::resize>({dtype::f32}).code() == status_code::invalid_argument);
}

TEST_CASE("a region that is no number, or far away, gives the extrapolation value") {
  const std::vector<float> x{1, 2, 3, 4}, scales{1};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::vector<float>& roi :
       {std::vector<float>{nan, 1}, std::vector<float>{1e30f, 2e30f}, std::vector<float>{-9, -8}})
    for (const std::string_view mode : {"nearest", "linear", "cubic"}) {
      kernel_rig rig{19};
      rig.attribute("mode", mode).attribute("coordinate_transformation_mode", "tf_crop_and_resize");
      rig.attribute("extrapolation_value", 7.0f).input<float>({4}, x).input<float>({2}, roi).input<float>({1}, scales);
      REQUIRE(rig.run<eps::resize>({dtype::f32}));
      CHECK(all<float>(rig) == std::vector<float>(4, 7));
    }
}
