// Runs the keyword spotting network of MLPerf Tiny. The model, a sound and the outputs of ONNX Runtime are constant
// arrays in the program, and all memory is one static array. The exit status is 0 if the outputs equal those of ONNX
// Runtime.
#include "board.hpp"
#include "keywords_kernels.hpp"

#include <cameo/minimal/session.hpp>

#include <algorithm>
#include <cmath>

using namespace cameo;

// Made by examples/embedded/CMakeLists.txt from the files in tests/data/keywords.
extern const unsigned char model_ort[], input_f32[], output_f32[];
extern const std::size_t model_ort_size;

namespace {

using runtime = minimal_runtime<eps::keywords_kernels>;

alignas(64) std::byte memory[224 * 1024];

/// The floats of a file; the arrays are aligned for floats.
template <std::size_t Count>
std::span<const float, Count> floats(const unsigned char* bytes) {
  return std::span<const float, Count>{reinterpret_cast<const float*>(bytes), Count};
}

}  // namespace

int main() {
  auto session = runtime::load(std::as_bytes(std::span{model_ort, model_ort_size}), memory);
  if (!session) return say(session.error().name()), say("\n"), 1;
  const value sound = value::tensor<float>({1, 49, 10, 1}, floats<49 * 10>(input_f32));
  value words;
  if (const status ran = session->run({&sound, 1}, {&words, 1}); !ran) return say(ran.name()), say("\n"), 1;
  const std::span<const float> p = words.as_unchecked<float>().span();
  const auto likeliest = std::max_element(p.begin(), p.end());
  say("word "), say(likeliest - p.begin()), say(", "), say(std::lround(*likeliest * 100)), say(" %\n");
  say(long(session->memory_used())), say(" bytes of memory\n");
  const auto expected = floats<12>(output_f32);
  return p.size() != 12 ||
         !std::equal(p.begin(), p.end(), expected.begin(), [](float a, float b) { return std::abs(a - b) < 1e-5f; });
}
