// Classifies a picture: reads a PPM file, scales and normalizes it, runs a model of 10 classes and prints the most
// probable ones. The model (examples/make_models.py) has random weights, so its results are meaningless; replace it by
// a trained model. Usage: example_image_classifier MODEL LABELS PICTURE [EXPECTED]
//
//     input: tensor(float)[1,32,32,3] -> tensor(float)[1,10]
//      51.3 %  cat
//      12.1 %  ship
//       8.8 %  deer
//
// With EXPECTED, an .npy file of probabilities, the exit status is 0 only if the probabilities agree.
#include "../digits/npy.hpp"
#include "picture.hpp"

#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

#include <cmath>
#include <cstdio>
#include <numeric>

namespace {

using runtime = cameo::runtime<cameo::eps::cpu>;

// The normalization of CIFAR-10, as in training: (pixel - mean) / deviation for each channel.
constexpr float mean[] = {0.4914f, 0.4822f, 0.4465f}, deviation[] = {0.2470f, 0.2435f, 0.2616f};
constexpr std::int64_t side = 32;

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file{path};
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// Returns 0 if the probabilities equal those of the file.
int compare(std::span<const float> probabilities, const std::string& path) {
  const auto expected = digits::read_npy<float>(path, "<f4");
  float largest = expected.elements.size() == probabilities.size() ? 0 : 1;
  for (std::size_t i = 0; largest < 1 && i < probabilities.size(); ++i)
    largest = std::max(largest, std::abs(probabilities[i] - expected.elements[i]));
  std::printf("largest difference to %s: %.1e\n", path.c_str(), double(largest));
  return largest < 1e-4f ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s MODEL LABELS PICTURE [EXPECTED]\n", argv[0]);
    return 2;
  }
  const std::vector<std::string> labels = lines_of(argv[2]);
  const examples::picture picture = examples::read_ppm(argv[3]);
  if (picture.width == 0) {
    std::fprintf(stderr, "%s: not a binary PPM file with 8 bits a channel\n", argv[3]);
    return 1;
  }
  auto session = runtime{}.load(argv[1]);
  if (!session) return cameo::report(session.error());
  const cameo::io_info& in = session->inputs()[0];
  std::printf("%s -> %s\n", cameo::one_line(cameo::to_string(in)).c_str(),
              cameo::one_line(session->outputs()[0].type_text).c_str());

  std::vector<float> pixels = examples::square_of(picture, side);  // this model has channels last
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = (pixels[i] - mean[i % 3]) / deviation[i % 3];
  auto outputs = session->run({{in.name, pixels}});
  if (!outputs) return cameo::report(outputs.error());

  const auto output = outputs->get<float>();
  if (!output) return cameo::report(output.error());
  const std::span<const float> probabilities = output->span();
  if (probabilities.size() != labels.size()) {
    std::fprintf(stderr, "%zu classes, but %zu labels\n", probabilities.size(), labels.size());
    return 1;
  }
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return probabilities[a] > probabilities[b]; });
  for (std::size_t i = 0; i < std::min<std::size_t>(3, order.size()); ++i)
    std::printf("%5.1f %%  %s\n", 100 * double(probabilities[order[i]]), labels[order[i]].c_str());
  return argc > 4 ? compare(probabilities, argv[4]) : 0;
}
