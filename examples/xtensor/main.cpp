// Arrays of xtensor and cameo on the same memory: arrays from .npy files are inputs, and xtensor's functions read the
// outputs. Usage: example_xtensor FOLDER (examples/digits)
//
//     357 of 360 digits read right
//     largest difference to xtensor's softmax: 2.4e-07
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/interop/xtensor.hpp>

#include <cstdio>
#include <xtensor/xarray.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnpy.hpp>
#include <xtensor/xsort.hpp>

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  const xt::xarray<float> images = xt::load_npy<float>(folder + "/test_images.npy");
  const xt::xarray<std::int64_t> labels = xt::load_npy<std::int64_t>(folder + "/test_labels.npy");

  auto session = cameo::runtime<cameo::eps::cpu>{}.load(folder + "/digits.onnx");
  if (!session) return cameo::report(session.error());
  auto outputs = session->run({{"image", cameo::as_tensor(images)}});  // has the array's shape
  if (!outputs) return cameo::report(outputs.error());
  const auto first = outputs->get<float>("logits"), second = outputs->get<float>("probabilities");
  if (!first || !second) return 1;
  const auto logits = cameo::as_xtensor(*first), probabilities = cameo::as_xtensor(*second);  // views of the outputs

  const xt::xarray<std::size_t> read = xt::argmax(probabilities, 1);
  const auto right = std::size_t(xt::sum(xt::equal(xt::cast<std::int64_t>(read), labels))());
  std::printf("%zu of %zu digits read right\n", right, labels.size());

  const xt::xarray<float> highest = xt::amax(logits, {1}, xt::keep_dims), powers = xt::exp(logits - highest);
  const xt::xarray<float> sums = xt::sum(powers, {1}, xt::keep_dims), softmax = powers / sums;
  const float difference = xt::amax(xt::abs(probabilities - softmax))();
  std::printf("largest difference to xtensor's softmax: %.1e\n", double(difference));
  return 100 * right >= 96 * labels.size() && difference < 1e-5f ? 0 : 1;
}
