// The target tier with no operator at all: a program that reads an ORT file, plans it and would run it, had it kernels.
// Its size is what every program pays; tests/minimal/sizes.py holds it.
#include <cameo/kernel/kernel_list.hpp>
#include <cameo/minimal/session.hpp>

#include <cstdio>

namespace {
alignas(64) std::byte file[64 * 1024], memory[64 * 1024];
}

int main(int argc, char** argv) {
  std::FILE* const from = argc > 1 ? std::fopen(argv[1], "rb") : nullptr;
  const std::size_t bytes = from ? std::fread(file, 1, sizeof file, from) : 0;
  auto session = cameo::minimal_runtime<cameo::kernel_list<>>::load({file, bytes}, memory);
  if (!session) return int(session.error().code());
  cameo::value in[8], out[8];
  return session->run(std::span{in}.first(session->input_count()), std::span{out}.first(session->output_count())) ? 0
                                                                                                                  : 1;
}
