#pragma once
#include <cameo/core/result.hpp>

#include <span>
#include <string>
#include <vector>

namespace CAMEO_NAMESPACE::eps::openvino_detail {

/// One compiled partition of a container; the bytes are the container's.
struct container_blob {
  std::string name;
  std::span<const std::byte> bytes;
};

/// A tensor that a blob does not have itself: where it lies in a file, whose path is relative to the model's folder.
struct container_weight {
  std::string name, location;
  std::uint64_t offset = 0, size = 0;
};

/// What ONNX Runtime's provider for the same SDK writes as context, "OVEP_BIN" version 1: a header, a BSON document
/// that says where the blobs lie, and the blobs, each from a multiple of 64 KiB on.
struct container {
  std::string schema_version = "1.0.0", producer;
  std::string id;                     // "cameo_id", which other programs neither write nor read; may be empty
  std::vector<container_blob> blobs;  // in the order they lie in; names are unique, bytes don't overlap
  std::vector<container_weight> weights;

  /// The blob with this name, or null.
  const container_blob* find(std::string_view name) const;
};

/// Reads one; its blobs are parts of `bytes`. Nothing in it is trusted: every place and size is checked, and what the
/// document may cost is bounded. INVALID_GRAPH saying what is wrong.
result<container> read_container(std::span<const std::byte> bytes);

/// One in pieces, for a writer: `head`, up to the first blob, then the blobs' own bytes and zeros between them, which
/// live as long as the blobs.
struct container_pieces {
  std::string head;
  std::vector<std::span<const std::byte>> rest;
};
/// INVALID_ARGUMENT for names that are not unique or have a zero byte; OUT_OF_MEMORY when sizes overflow.
result<container_pieces> write_container(const container&);

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
