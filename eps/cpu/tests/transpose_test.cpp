// Transposes of images and matrices against their definition, on each instruction set: pixels and planes of 1 to 5
// channels, and matrices whose sizes are not multiples of a block, for every element size.
#include <doctest/doctest.h>
#include <cameo/eps/cpu/transpose.hpp>

#include "each_target.hpp"
#include "kernel_rig.hpp"

namespace cameo::test {
namespace {

template <class T>
void check_transpose(std::mt19937& random, const extents& shape, const std::vector<std::int64_t>& perm) {
  std::vector<T> x(std::size_t(shape.count()));
  for (T& v : x) v = T(random());
  extents to;
  for (const std::int64_t axis : perm) to.push_back(shape[std::size_t(axis)]);
  const extents steps = row_major_strides(shape), to_steps = row_major_strides(to);
  std::vector<T> want(x.size());
  for (std::int64_t i = 0; i < shape.count(); ++i) {
    std::int64_t from = 0;
    for (std::size_t k = 0; k < to.rank(); ++k) from += i / to_steps[k] % to[k] * steps[std::size_t(perm[k])];
    want[std::size_t(i)] = x[std::size_t(from)];
  }
  kernel_rig rig{1, 3};
  rig.attribute("perm", perm).input<T>(shape, x);
  REQUIRE(rig.run<eps::transpose>({dtype_of<T>}));
  CHECK(rig.output<T>(0).shape() == to);
  CHECK(elements_of<T>(rig) == want);
}

template <class T>
void check_images(std::mt19937& random) {
  const auto below = [&](int n) { return std::int64_t(random() % unsigned(n)); };
  const std::int64_t images = 1 + below(3), height = 1 + below(40), width = 1 + below(below(4) ? 90 : 700);
  for (std::int64_t channels = 1; channels <= 5; ++channels) {
    CAPTURE(channels);
    check_transpose<T>(random, {images, height, width, channels}, {0, 3, 1, 2});
    check_transpose<T>(random, {images, channels, height, width}, {0, 2, 3, 1});
    check_transpose<T>(random, {height, images, channels, width}, {1, 2, 3, 0});
  }
}

TEST_CASE("Transpose splits pixels, joins planes and transposes matrices, for elements of 1, 2, 4 and 8 bytes") {
  for_each_target_and_seed(6, [](std::uint32_t seed) {
    std::mt19937 random{seed};
    check_images<std::uint8_t>(random);
    check_images<std::uint16_t>(random);
    check_images<std::int32_t>(random);
    check_images<std::int64_t>(random);
  });
}

}  // namespace
}  // namespace cameo::test
