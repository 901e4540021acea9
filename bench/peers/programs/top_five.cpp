// examples/top_five written with ONNX Runtime's C++ API: the same images, results and checks.
// tests/scripts/line_counts.py counts the lines of this file, compiles it and runs it. Usage: top_five FOLDER
#include "../../../examples/digits/npy.hpp"

#include <onnxruntime_cxx_api.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <span>
#include <stdexcept>

int main(int argc, char** argv) try {
  const std::filesystem::path folder = argc > 1 ? argv[1] : ".";
  auto images = digits::read_npy<float>(folder / "test_images.npy", "<f4");
  const auto labels = digits::read_npy<std::int64_t>(folder / "test_labels.npy", "<i8");
  constexpr std::size_t batch = 16, pixels = 64;
  if (images.elements.size() < batch * pixels || labels.elements.size() < batch) return 2;

  Ort::Env env;
  Ort::Session session{env, (folder / "digits.onnx").c_str(), Ort::SessionOptions{}};
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  const std::int64_t shape[] = {batch, 1, 8, 8};
  const auto image = Ort::Value::CreateTensor<float>(memory, images.elements.data(), batch * pixels, shape, 4);
  const char *inputs[] = {"image"}, *wanted[] = {"probabilities"};
  const auto outputs = session.Run(Ort::RunOptions{}, inputs, &image, 1, wanted, 1);
  const auto info = outputs[0].GetTensorTypeAndShapeInfo();
  if (info.GetElementType() != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) throw std::runtime_error{"probabilities: no float"};
  const std::size_t classes = std::size_t(info.GetShape().at(1));
  const float* probabilities = outputs[0].GetTensorData<float>();

  int right = 0;
  for (std::size_t i = 0; i < batch; ++i) {
    const std::span row{probabilities + i * classes, classes};
    std::vector<int> order(row.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::partial_sort(order, order.begin() + 5, {}, [&](int c) { return -row[std::size_t(c)]; });
    std::printf("%d:", int(labels.elements[i]));
    for (const int c : std::span{order}.first(5)) std::printf(" %d (%.1f %%) ", c, 100 * double(row[std::size_t(c)]));
    std::printf("\n");
    right += order[0] == labels.elements[i];
  }
  return right >= 14 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return 1;
}
