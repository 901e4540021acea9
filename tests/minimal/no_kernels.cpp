// The target tier with no operator at all: a program that reads an ORT file, plans it and would run it, had it kernels.
// Its size is what every program pays; tests/minimal/sizes.py holds it.
#include <cameo/kernel/kernel_list.hpp>
#include <cameo/minimal/session.hpp>

#include <cstdio>

namespace {
alignas(64) std::byte file[64 * 1024], memory[64 * 1024];
}

int main() {
  std::FILE* const from = std::fopen(CAMEO_SOURCE_DIR "/tests/data/digits.ort", "rb");
  const std::size_t bytes = from ? std::fread(file, 1, sizeof file, from) : 0;
  auto session = cameo::minimal_runtime<cameo::kernel_list<>>::load({file, bytes}, memory);
  if (!session) return session.error().code() != cameo::status_code::not_implemented;  // which is how this ends
  cameo::value in[8], out[8];
  return session->run(std::span{in}.first(session->input_count()), std::span{out}.first(session->output_count())) ? 2
                                                                                                                  : 1;
}
