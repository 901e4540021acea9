// Experimental operators that ONNX removed in opset 10. tests/scripts/oddities.py compares them with ONNX Runtime.
#include <cameo/eps/cpu/image_scaler.hpp>
#include <cameo/eps/cpu/mean_variance_normalization.hpp>
#include <cameo/eps/cpu/slice.hpp>
#include <cameo/op/contrib.hpp>

#include "kernel_rig.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <numeric>

using namespace cameo;
using cameo::test::kernel_rig;

namespace {

using ints = std::vector<std::int64_t>;

/// 0, 1, 2, ... in the shape [1, 2, 3, 4].
std::vector<float> image() {
  std::vector<float> made(24);
  std::iota(made.begin(), made.end(), 0.0f);
  return made;
}
std::vector<float> numbers(kernel_rig& rig) { return {rig.output<float>(0).begin(), rig.output<float>(0).end()}; }

}  // namespace

TEST_CASE("ImageScaler has one factor, and one bias for each channel") {
  const std::vector<float> x = image(), none;
  for (const std::int64_t batches : {1, 2}) {
    std::vector<float> all = x;
    if (batches == 2) all.insert(all.end(), x.begin(), x.end());
    kernel_rig rig{1};
    rig.attribute("scale", 2.0f).attribute("bias", std::vector<float>{0.5f, -1});
    REQUIRE(rig.input<float>({batches, 2, 3, 4}, all).run<eps::image_scaler>({dtype::f32}));
    const std::vector<float> y = numbers(rig);
    REQUIRE(y.size() == all.size());
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == 2 * all[i] + (i / 12 % 2 ? -1 : 0.5f));
  }
  kernel_rig empty{1};
  empty.attribute("bias", std::vector<float>{1, 2});
  REQUIRE(empty.input<float>({0, 2, 3, 4}, none).run<eps::image_scaler>({dtype::f32}));
  for (const extents& wrong : {extents{1, 3, 2, 4}, extents{24}}) {
    kernel_rig rig{1};
    rig.checked_as<op::contrib::ImageScaler>().attribute("bias", std::vector<float>{1, 2});
    CHECK(rig.input<float>(wrong, x).run<eps::image_scaler>({dtype::f32}).code() == status_code::invalid_argument);
  }
}

TEST_CASE("Crop has borders, or a size; neither reaches outside the image, whatever the numbers") {
  const std::vector<float> x = image();
  const auto cropped = [&](ints border, ints scale) {
    kernel_rig rig{1};
    rig.attribute("border", std::move(border));
    if (!scale.empty()) rig.attribute("scale", std::move(scale));
    REQUIRE(rig.input<float>({1, 2, 3, 4}, x).run<eps::crop>({dtype::f32}));
    return std::pair{rig.output<float>(0).shape(), numbers(rig)};
  };
  CHECK(cropped({1, 0, 2, 1}, {}) == std::pair{extents{1, 2, 2, 1}, std::vector<float>{1, 5, 13, 17}});
  CHECK(cropped({2, 1, 9, 9}, {1, 2}) == std::pair{extents{1, 2, 1, 2}, std::vector<float>{6, 7, 18, 19}});
  CHECK(cropped({4, 0, 0, 0}, {}).first == extents{1, 2, 3, 0});
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                         most = std::numeric_limits<std::int64_t>::max();
  for (const auto& [border, scale] : {std::pair<ints, ints>{{-1, 0, 0, 0}, {}},
                                      {{0, 4, 0, 0}, {}},
                                      {{3, 0, 2, 0}, {}},
                                      {{0, 0, 0, -1}, {}},
                                      {{least, 0, 0, 0}, {}},
                                      {{0, most, 0, most}, {}},
                                      {{1, 1, 0, 0}, {3, 1}},
                                      {{1, 1, 0, 0}, {1, most}},
                                      {{1, 1, 0, 0}, {-1, 1}},
                                      {{0, 0, 0}, {}},
                                      {{0, 0, 0, 0}, {1}}}) {
    kernel_rig rig{1};
    rig.checked_as<op::contrib::Crop>().attribute("border", border);
    if (!scale.empty()) rig.attribute("scale", scale);
    CHECK(!rig.input<float>({1, 2, 3, 4}, x).run<eps::crop>({dtype::f32}));
  }
}

TEST_CASE("DynamicSlice has the lists of Slice as inputs; MeanVarianceNormalization has its axes in attributes") {
  const std::vector<float> x = image();
  const ints starts{0, 1}, ends{2, -1}, axes{2, 3};
  kernel_rig sliced{1};
  sliced.input<float>({1, 2, 3, 4}, x).input<std::int64_t>({2}, starts).input<std::int64_t>({2}, ends);
  REQUIRE(sliced.input<std::int64_t>({2}, axes).run<eps::slice>({dtype::f32}));
  CHECK(numbers(sliced) == std::vector<float>{1, 2, 5, 6, 13, 14, 17, 18});
  kernel_rig odd{1};  // an attribute that DynamicSlice does not have is ignored
  odd.attribute("starts", std::vector<std::int64_t>{0, 0}).input<float>({1, 2, 3, 4}, x);
  odd.input<std::int64_t>({2}, starts).input<std::int64_t>({2}, ends).input<std::int64_t>({2}, axes);
  REQUIRE(odd.run<eps::slice>({dtype::f32}));
  CHECK(numbers(odd) == numbers(sliced));

  kernel_rig moved{1};
  moved.attribute("normalize_variance", std::int64_t{0});
  REQUIRE(moved.input<float>({1, 2, 3, 4}, x).run<eps::mean_variance_normalization>({dtype::f32}));
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(numbers(moved)[i] == x[i] - (i < 12 ? 5.5f : 17.5f));
  kernel_rig across{1};
  across.attribute("normalize_variance", std::int64_t{0}).attribute("across_channels", std::int64_t{1});
  REQUIRE(across.input<float>({1, 2, 3, 4}, x).run<eps::mean_variance_normalization>({dtype::f32}));
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(numbers(across)[i] == x[i] - 11.5f);
}
