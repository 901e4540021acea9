#include <cameo/eps/cpu/affine_grid.hpp>
#include <cameo/eps/cpu/grid_sample.hpp>

#include "kernel_rig.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace cameo;
using cameo::test::kernel_rig;

namespace {

/// Samples X = {{1, 2, 3}, {4, 5, 6}}. The expected numbers are ONNX Runtime's.
std::vector<float> sampled(const std::vector<float>& grid, std::string_view mode, std::string_view padding,
                           std::int64_t align_corners = 0) {
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  kernel_rig rig{20};
  rig.attribute("mode", mode).attribute("padding_mode", padding).attribute("align_corners", align_corners);
  rig.input<float>({1, 1, 2, 3}, x).input<float>({1, 1, std::int64_t(grid.size() / 2), 2}, grid);
  REQUIRE(rig.run<eps::grid_sample>({dtype::f32}));
  return {rig.output<float>(0).begin(), rig.output<float>(0).end()};
}

std::vector<float> grid_of(const std::vector<float>& theta, const std::vector<std::int64_t>& size,
                           std::int64_t align_corners) {
  kernel_rig rig{20};
  rig.attribute("align_corners", align_corners).input<float>({size[0], 2, 3}, theta);
  rig.input<std::int64_t>({4}, size);
  REQUIRE(rig.run<eps::affine_grid>({dtype::f32}));
  return {rig.output<float>(0).begin(), rig.output<float>(0).end()};
}

}  // namespace

TEST_CASE("cubic replaces each element outside by one at the border; the position itself is not moved") {
  const std::vector<float> y = sampled({1.4f, 0.1f, -1.3f, -0.7f}, "cubic", "border");
  CHECK(y[0] == doctest::Approx(4.8359966));
  CHECK(y[1] == doctest::Approx(0.7102184));
}

TEST_CASE("a position that is NaN, or beyond all integers, is the lower border") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (const float x : {nan, inf, -inf, 1e20f}) {
    CHECK(sampled({x, 0.1f}, "linear", "zeros")[0] == doctest::Approx(1.4));
    CHECK(sampled({x, 0.1f}, "linear", "zeros", 1)[0] == doctest::Approx(2.65));
    CHECK(sampled({x, 0.1f}, "linear", "border")[0] == doctest::Approx(2.8));
    CHECK(sampled({x, 0.1f}, "nearest", "zeros")[0] == 4);
  }
}

TEST_CASE("AffineGrid of one image, and of axes of one element") {
  const std::vector<float> theta{2, 1, .5f, 1, 3, .25f};
  CHECK(grid_of(theta, {1, 1, 2, 2}, 0) == std::vector<float>{-1, -1.75f, 1, -.75f, 0, 1.25f, 2, 2.25f});
  CHECK(grid_of(theta, {1, 1, 2, 1}, 1) == std::vector<float>{1.5f, -1.75f, 3.5f, 4.25f});
  kernel_rig wrong{20};
  const std::vector<std::int64_t> size{2, 1, 2, 2};
  wrong.input<float>({1, 2, 3}, theta).input<std::int64_t>({4}, size);
  CHECK(wrong.run<eps::affine_grid>({dtype::f32}).code() == status_code::invalid_argument);
}
