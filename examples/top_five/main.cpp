// Classifies a batch of images in one run, and prints the five most probable classes of each. docs/guide.md explains
// it. Usage: example_top_five FOLDER      with digits.onnx, test_images.npy and test_labels.npy
//
//     9: 9 (99.7 %)  7 (0.3 %)  5 (0.0 %)  4 (0.0 %)  1 (0.0 %)
//
// The exit status is 0 if the most probable digit of at least 14 of the 16 images is correct.
#include "../digits/npy.hpp"

#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

#include <algorithm>
#include <cstdio>
#include <numeric>

using runtime = cameo::runtime<cameo::eps::cpu>;

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : ".";
  const auto images = digits::read_npy<float>(folder / "test_images.npy", "<f4");
  const auto labels = digits::read_npy<std::int64_t>(folder / "test_labels.npy", "<i8");
  constexpr std::size_t batch = 16, pixels = 64;
  if (images.elements.size() < batch * pixels || labels.elements.size() < batch) return 2;

  auto session = runtime{}.load(folder / "digits.onnx");
  if (!session) return cameo::report(session.error());
  auto outputs = session->run({{"image", std::span{images.elements}.first(batch * pixels)}});
  if (!outputs) return cameo::report(outputs.error());
  auto probabilities = outputs->get<float>("probabilities");
  if (!probabilities) return cameo::report(probabilities.error());

  int right = 0;
  for (std::size_t i = 0; i < batch; ++i) {
    const std::span<const float> row = probabilities->row(i);
    std::vector<int> order(row.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::partial_sort(order, order.begin() + 5, {}, [&](int c) { return -row[std::size_t(c)]; });
    std::printf("%d:", int(labels.elements[i]));
    for (const int c : std::span{order}.first(5)) std::printf(" %d (%.1f %%) ", c, 100 * double(row[std::size_t(c)]));
    std::printf("\n");
    right += order[0] == labels.elements[i];
  }
  return right >= 14 ? 0 : 1;
}
