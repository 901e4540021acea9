// libFuzzer's door to the reader of ORT files: whatever the bytes are, reading, checking and writing them again ends in
// success or a status. Seeds: tests/data/ort.
#include <cameo/format/ort.hpp>
#include <cameo/format/ort_draft.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/kernel/kernel_list.hpp>

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cameo;
  // Without a graph, saved optimizations done: up to where kernels are looked for.
  static constexpr const kernel_table* none[] = {&kernel_list<>::table};
  heap_arena memory;
  static_cast<void>(read_and_replay_ort_draft(std::as_bytes(std::span{data, size}), none, memory));
  read_options options;
  options.limits.model_bytes = std::size_t{1} << 26;
  auto read = read_ort(std::as_bytes(std::span{data, size}), "input", options);
  if (!read || !check_model(**read, {})) return 0;
  const auto written = write_ort(**read);
  if (!written) return 0;
  // What cameo writes, it reads.
  if (!read_ort(std::as_bytes(std::span{written->data(), written->size()}), "written")) std::abort();
  return 0;
}
