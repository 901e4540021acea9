#pragma once
#include <cameo/core/result.hpp>

#include <span>
#include <string>
#include <vector>

namespace CAMEO_NAMESPACE::eps::openvino_detail {

/// One compiled partition in a container; `bytes` refers to the container's bytes.
struct container_blob {
  std::string name;
  std::span<const std::byte> bytes;
};

/// A tensor that is not in the blob but in a file, whose path is relative to the model's folder.
struct container_weight {
  std::string name, location;
  std::uint64_t offset = 0, size = 0;
};

/// The format of contexts of ONNX Runtime's provider for the same SDK, "OVEP_BIN" version 1: a header, a BSON document
/// with the offsets and sizes of the blobs, and the blobs, each at a multiple of 64 KiB.
struct container {
  std::string schema_version = "1.0.0", producer;
  std::string id;                     // "cameo_id", which only cameo writes and reads; may be empty
  std::vector<container_blob> blobs;  // in the order of their offsets; names are unique, bytes don't overlap
  std::vector<container_weight> weights;

  /// The blob with this name, or null.
  const container_blob* find(std::string_view name) const;
};

/// Reads a container; its blobs refer to `bytes`. The container is not trusted: all offsets and sizes are checked, and
/// the size and the depth of the document are limited. INVALID_GRAPH if it is invalid.
result<container> read_container(std::span<const std::byte> bytes);

/// The bytes of a container in several pieces: `head` ends where the first blob begins; `rest` refers to the blobs'
/// bytes and to zeros between them, and lives as long as the blobs.
struct container_pieces {
  std::string head;
  std::vector<std::span<const std::byte>> rest;
};
/// Writes a container. INVALID_ARGUMENT for names that are not unique or have a zero byte; OUT_OF_MEMORY if sizes
/// overflow.
result<container_pieces> write_container(const container&);

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
