// Reads ten handwritten digits on a device. The network is a constant array with the contents of an .ort file, and all
// memory is one static array. The program needs no heap, no exceptions and no file system. The exit status is 0 if
// every digit is read correctly, with the probability that ONNX Runtime gives.
#include "board.hpp"
#include "digits_kernels.hpp"

#include <cameo/minimal/session.hpp>

#include <algorithm>
#include <cmath>

using namespace cameo;

extern const unsigned char digits_ort[];  // made from the file by examples/embedded/CMakeLists.txt
extern const std::size_t digits_ort_size;

namespace {

using runtime = minimal_runtime<eps::digits_kernels>;  // written by `cameo reduce` for the model

alignas(64) std::byte memory[36 * 1024];

/// Eight rows of eight pixels, where '.' to 'g' are 0 to 16, and ONNX Runtime's probability of the digit.
struct digit {
  std::string_view pixels;
  float probability;
};
constexpr digit digits[10] = {
    {"...cb.....cc9a...2g21b1..1f..58."
     ".2e..5a...d2.2d...79.7b....bdg2.",
     0.999350f},
    {"..18g7....3ggc...1fggc...3cfgc.."
     "...8ga.....bge.....bgg1....5d7..",
     0.981132f},
    {"..de3....4gfb....7c4g....364g..."
     "...9c.....1e7....1egaa2...bcee6.",
     0.999999f},
    {".18aea...ca66g2..3..7e1.....9b.."
     "....2g1......8c...4.2b9...cgec4.",
     0.999974f},
    {"...2e......c9.....8c..d5..d8.9e."
     ".4ggcg4..4ccfc.....1f4.....4a...",
     0.999982f},
    {"..fddd....ggb3....cd......5g3..."
     "...ba......ae.....9ga.....bf1...",
     0.999998f},
    {"...e4.....6d1.....f4.....4g742.."
     ".8gb9f5..5e1.a9...bc5d5...1dg9..",
     0.999966f},
    {"..4g8b7...agfg6..3g46f...38.d8.."
     "..6ggd6...3ed93....e6.....4f2...",
     0.999983f},
    {"..5fd3....cfce....ccee....3ge3.."
     "..9ef3...1f58c1...g44g4...5ggc2.",
     0.999987f},
    {"..dd1....7gdcd...8d1fg4..4fdffa."
     "..6b39d......5g..17.19f1.1dggg6.",
     1.000000f},
};

float brightness(char pixel) { return float(std::string_view{".123456789abcdefg"}.find(pixel)) / 16; }

/// Runs the network on digit `number`, and returns true if the result is correct.
bool reads(minimal_session& session, int number) {
  alignas(16) float pixels[64];
  std::transform(digits[number].pixels.begin(), digits[number].pixels.end(), pixels, brightness);
  const value image = value::tensor<float>({1, 1, 8, 8}, pixels);
  value outputs[2];  // logits and probabilities, in the model's order
  if (const status ran = session.run({&image, 1}, outputs); !ran) return say(ran.name()), say("\n"), false;
  const std::span<const float> p = outputs[1].as_unchecked<float>().span();
  const auto likeliest = std::max_element(p.begin(), p.end());
  const int found = int(likeliest - p.begin());
  say(found), say("  "), say(std::lround(*likeliest * 100)), say(" %\n");
  return found == number && std::abs(*likeliest - digits[number].probability) < 1e-5f;
}

}  // namespace

int main() {
  // The file is part of the program, so it is trusted: it is not checked, and the code of the checks is not linked.
  auto session = runtime::load_trusted(std::as_bytes(std::span{digits_ort, digits_ort_size}), memory);
  if (!session) return say(session.error().name()), say("\n"), 1;
  int failed = 0;
  for (int number = 0; number < 10; ++number) failed += !reads(*session, number);
  say(long(session->memory_used())), say(" bytes of memory\n");
  return failed;
}
