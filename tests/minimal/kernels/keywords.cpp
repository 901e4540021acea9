// Runs the keyword spotting network of MLPerf Tiny (bench/models/make_models.py, kws_fp32) with the library for devices
// and the kernel list that `cameo reduce` wrote for it. The outputs are compared with those of ONNX Runtime.
#include "keywords_kernels.hpp"

#include <cameo/minimal/session.hpp>

#include <cmath>
#include <cstdio>

namespace {

using runtime = cameo::minimal_runtime<cameo::eps::keywords_kernels>;

alignas(64) std::byte file[128 * 1024], memory[512 * 1024];
alignas(64) float input[49 * 10], expected[12];

bool read(const char* path, std::span<std::byte> to, std::size_t& bytes) {
  std::FILE* const from = std::fopen(path, "rb");
  if (!from) return false;
  bytes = std::fread(to.data(), 1, to.size(), from);
  std::fclose(from);
  return true;
}

int run(bool prepack, std::span<const std::byte> model) {
  auto session = runtime::load(model, memory, {.prepack = prepack});
  if (!session) return std::printf("loading: %s\n", session.error().name()), 1;
  const cameo::value sound = cameo::value::tensor<float>({1, 49, 10, 1}, input);
  cameo::value words;
  for (int i = 0; i < 3; ++i) {  // each run uses the same memory
    if (cameo::status ran = session->run({&sound, 1}, {&words, 1}); !ran)
      return std::printf("running: %s\n", ran.name()), 1;
    for (std::int64_t at = 0; at < 12; ++at)
      if (!(std::abs(words.as_unchecked<float>()[at] - expected[at]) <= 1e-5f))
        return std::printf("word %d: %g instead of %g\n", int(at), double(words.as_unchecked<float>()[at]),
                           double(expected[at])),
               1;
  }
  std::printf("%d bytes of memory%s\n", int(session->memory_used()), prepack ? " with packed weights" : "");
  return 0;
}

}  // namespace

int main() {
  std::size_t bytes = 0, ignored = 0;
  const bool all_there =
      read(CAMEO_SOURCE_DIR "/tests/data/keywords/model.ort", file, bytes) &&
      read(CAMEO_SOURCE_DIR "/tests/data/keywords/input.f32", std::as_writable_bytes(std::span{input}), ignored) &&
      read(CAMEO_SOURCE_DIR "/tests/data/keywords/output.f32", std::as_writable_bytes(std::span{expected}), ignored);
  if (!all_there) return std::puts("the files of tests/data/keywords could not be read"), 1;
  const int failed = run(false, std::span{file}.first(bytes)) + run(true, std::span{file}.first(bytes));
  std::printf("%d failed\n", failed);
  return failed;
}
