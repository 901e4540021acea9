// examples/three_inputs written with ONNX Runtime's C++ API: the same tokens, results and checks.
// tests/scripts/line_counts.py counts the lines of this file, compiles it and runs it.
// Usage: three_inputs MODEL [EXPECTED]
#include "../../../examples/digits/npy.hpp"

#include <onnxruntime_cxx_api.h>

#include <cmath>
#include <cstdio>
#include <stdexcept>

int main(int argc, char** argv) try {
  if (argc < 2) return 2;
  Ort::Env env;
  Ort::Session session{env, argv[1], Ort::SessionOptions{}};

  std::vector<std::int64_t> ids = {2, 5, 9, 14, 7, 3, 2, 8, 11, 3, 0, 0}, mask = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0},
                            types(ids.size());
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  const std::int64_t shape[] = {2, 6};
  const auto tensor = [&](std::vector<std::int64_t>& of) {
    return Ort::Value::CreateTensor<std::int64_t>(memory, of.data(), of.size(), shape, 2);
  };
  const Ort::Value inputs[] = {tensor(ids), tensor(mask), tensor(types)};
  const char *names[] = {"input_ids", "attention_mask", "token_type_ids"}, *wanted[] = {"last_hidden_state"};
  const auto outputs = session.Run(Ort::RunOptions{}, names, inputs, 3, wanted, 1);
  const auto info = outputs[0].GetTensorTypeAndShapeInfo();
  if (info.GetElementType() != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)
    throw std::runtime_error{"last_hidden_state: no float"};
  const auto dims = info.GetShape();
  const float* hidden = outputs[0].GetTensorData<float>();
  std::printf("last_hidden_state: float[%d,%d,%d]\n", int(dims.at(0)), int(dims.at(1)), int(dims.at(2)));

  if (argc < 3) return 0;
  const auto expected = digits::read_npy<float>(argv[2], "<f4");
  if (expected.elements.size() != info.GetElementCount()) return 1;
  for (std::size_t i = 0; i < expected.elements.size(); ++i)
    if (std::abs(hidden[i] - expected.elements[i]) > 1e-3f) return 1;
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return 1;
}
