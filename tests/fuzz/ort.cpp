// A fuzz target for both readers of ORT files. For any bytes, these must end with success or a status: reading,
// checking and writing a model; and loading in a minimal runtime, with and without the file's saved runtime
// optimizations. Seeds: tests/data/ort.
#include <cameo/eps/cpu.hpp>
#include <cameo/format/ort.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/minimal/session.hpp>

#include <cstdlib>

namespace {

using namespace cameo;

void check_with_graph(std::span<const std::byte> file) {
  read_options options;
  options.limits.model_bytes = std::size_t{1} << 26;
  auto read = read_ort(file, "input", options);
  if (!read || !check_model(**read, {})) return;
  const auto written = write_ort(**read);
  if (!written) return;
  // cameo must be able to read every file that it writes.
  if (!read_ort(std::as_bytes(std::span{written->data(), written->size()}), "written")) std::abort();
}

void check_without_graph(std::span<const std::byte> file) {
  alignas(64) static std::byte memory[std::size_t{1} << 18];
  static_cast<void>(minimal_runtime<eps::cpu_kernels>::load(file, memory));
  static_cast<void>(minimal_runtime<eps::cpu_kernels>::load(file, std::span{memory}.first(1 << 14)));
  static_cast<void>(minimal_runtime<saved_optimizations, eps::cpu_kernels>::load(file, memory));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> file = std::as_bytes(std::span{data, size});
  check_with_graph(file);
  check_without_graph(file);
  return 0;
}
