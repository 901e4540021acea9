// libFuzzer's door to the reader of ORT files: whatever the bytes are, reading, checking and writing them again ends in
// success or a status. Seeds: tests/data/ort.
#include <cameo/format/ort.hpp>
#include <cameo/graph/check.hpp>

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cameo;
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
