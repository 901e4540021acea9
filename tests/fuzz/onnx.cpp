// A fuzz target for the readers of .onnx files and of values in .pb files: for any bytes, reading, checking and writing
// must end with success or a status. Seeds: models of tests/data, and one that has every part of the format.
#include <cameo/format/onnx.hpp>
#include <cameo/format/pb.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/os/heap_arena.hpp>

#include <cstdlib>

namespace {

using namespace cameo;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span{text}); }

void check_as_model(std::span<const std::byte> file) {
  read_options options;
  options.limits.model_bytes = std::size_t{1} << 26;
  auto read = read_onnx(file, "input", options);
  if (!read) return;
  const auto written = write_onnx(**read);
  // cameo must be able to read every file that it writes.
  if (written && !read_onnx(bytes_of(*written), "written")) std::abort();
  static_cast<void>(check_model(**read, {}));
}

void check_as_value(std::span<const std::byte> file, pb_kind kind) {
  detail::heap_arena memory{4096, std::size_t{1} << 26};
  const auto read = read_pb(file, kind, memory);
  if (!read) return;
  const auto written = write_pb(*read, kind, "again");
  if (written && !read_pb(bytes_of(*written), kind, memory)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> file = std::as_bytes(std::span{data, size});
  check_as_model(file);
  for (const pb_kind kind :
       {pb_kind::tensor, pb_kind::sequence, pb_kind::optional, pb_kind::map, pb_kind::sparse_tensor})
    check_as_value(file, kind);
  return 0;
}
