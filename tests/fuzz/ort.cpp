// libFuzzer's door to both readers of ORT files: whatever the bytes are, reading, checking and writing them again, and
// reading and planning them without a graph, with and without what they have saved for later, end in success or a
// status. Seeds: tests/data/ort.
#include <cameo/eps/cpu.hpp>
#include <cameo/format/ort.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/minimal/session.hpp>

#include <cstdlib>

namespace {

using namespace cameo;

void with_a_graph(std::span<const std::byte> file) {
  read_options options;
  options.limits.model_bytes = std::size_t{1} << 26;
  auto read = read_ort(file, "input", options);
  if (!read || !check_model(**read, {})) return;
  const auto written = write_ort(**read);
  if (!written) return;
  // What cameo writes, it reads.
  if (!read_ort(std::as_bytes(std::span{written->data(), written->size()}), "written")) std::abort();
}

void without_one(std::span<const std::byte> file) {
  alignas(64) static std::byte memory[std::size_t{1} << 18];
  static_cast<void>(minimal_runtime<eps::cpu_kernels>::load(file, memory));
  static_cast<void>(minimal_runtime<eps::cpu_kernels>::load(file, std::span{memory}.first(1 << 14)));
  static_cast<void>(minimal_runtime<saved_optimizations, eps::cpu_kernels>::load(file, memory));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> file = std::as_bytes(std::span{data, size});
  with_a_graph(file);
  without_one(file);
  return 0;
}
