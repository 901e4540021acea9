// A fuzz target for containers of OpenVINO blobs: for any bytes, the blobs that are read must be inside of the bytes
// and must not overlap, and must be the same after writing and reading again. Seeds: tests/data/epctx.
#include "openvino/src/container.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace {

using namespace cameo::eps::openvino_detail;

void require(bool fine) {
  if (!fine) std::abort();
}

bool same(const container& a, const container& b) {
  return a.producer == b.producer && a.schema_version == b.schema_version &&
         std::ranges::equal(a.blobs, b.blobs,
                            [](const container_blob& x, const container_blob& y) {
                              return x.name == y.name && std::ranges::equal(x.bytes, y.bytes);
                            }) &&
         std::ranges::equal(a.weights, b.weights, [](const container_weight& x, const container_weight& y) {
           return x.name == y.name && x.location == y.location && x.offset == y.offset && x.size == y.size;
         });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span{data, size});
  const auto read = read_container(bytes);
  if (!read) return 0;
  const std::byte* previous_end = bytes.data();
  for (const container_blob& blob : read->blobs) {
    require(blob.bytes.data() >= previous_end && blob.bytes.data() + blob.bytes.size() <= bytes.data() + size);
    previous_end = blob.bytes.data() + blob.bytes.size();
  }
  const auto pieces = write_container(*read);
  require(bool(pieces));
  std::vector<std::byte> written(pieces->head.size());
  std::ranges::copy(std::as_bytes(std::span{pieces->head}), written.begin());
  for (const auto piece : pieces->rest) written.insert(written.end(), piece.begin(), piece.end());
  const auto again = read_container(written);
  require(again && same(*read, *again));
  return 0;
}
