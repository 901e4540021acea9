// A text model with three int64 inputs: tokens, a mask, and the index of the text that a token belongs to. The second
// row is shorter, so it is padded and masked. Usage: example_three_inputs MODEL [EXPECTED]
//
//     last_hidden_state: float[2,6,96]
//
// With EXPECTED, an .npy file of ONNX Runtime's output (examples/make_models.py), the exit status is 0 only if both
// agree.
#include "../digits/npy.hpp"

#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

#include <cmath>
#include <cstdio>

using runtime = cameo::runtime<cameo::eps::cpu>;

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  auto session = runtime{}.load(argv[1]);
  if (!session) return cameo::report(session.error());

  const std::vector<std::int64_t> ids = {2, 5, 9, 14, 7, 3, 2, 8, 11, 3, 0, 0},
                                  mask = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0}, types(ids.size());
  auto outputs =
      session->run({{"input_ids", ids, {2, 6}}, {"attention_mask", mask, {2, 6}}, {"token_type_ids", types, {2, 6}}});
  if (!outputs) return cameo::report(outputs.error());
  auto hidden = outputs->get<float>("last_hidden_state");
  if (!hidden) return cameo::report(hidden.error());
  std::printf("last_hidden_state: float[%d,%d,%d]\n", int(hidden->dim(0)), int(hidden->dim(1)), int(hidden->dim(2)));

  if (argc < 3) return 0;
  const auto expected = digits::read_npy<float>(argv[2], "<f4");
  if (expected.elements.size() != hidden->size()) return 1;
  for (std::size_t i = 0; i < hidden->size(); ++i)
    if (std::abs((*hidden)[i] - expected.elements[i]) > 1e-3f) return 1;
  return 0;
}
