#pragma once
#include "../src/container.hpp"

#include <cstring>
#include <optional>

namespace cameo::test {

/// Corrects the checksums of a damaged container, as far as it is readable, and replaces its maker if one is given.
inline void reseal(std::span<std::byte> bytes, std::optional<eps::frozen_file::maker> made_by = {}) {
  using namespace eps::frozen_file;
  header head;
  if (bytes.size() < sizeof head) return;
  std::memcpy(&head, bytes.data(), sizeof head);
  const auto within = [&](std::uint64_t offset, std::uint64_t size, std::span<std::byte> all) {
    return offset <= all.size() && size <= all.size() - offset;
  };
  if (within(head.directory, head.directory_bytes, bytes) && head.directory % 8 == 0) {
    const auto rows = bytes.subspan(std::size_t(head.directory), std::size_t(head.directory_bytes));
    directory counts{};
    if (rows.size() >= sizeof counts) std::memcpy(&counts, rows.data(), sizeof counts);
    for (std::uint64_t i = 0; i < counts.plans && i < 1000 && counts.blobs < rows.size(); ++i) {
      const std::uint64_t at = sizeof counts + counts.blobs * sizeof(blob_row) + i * sizeof(plan_row);
      plan_row row;
      if (!within(at, sizeof row, rows)) break;
      std::memcpy(&row, rows.data() + at, sizeof row);
      if (within(row.offset, row.bytes, bytes))
        row.checksum = checksum_of(bytes.subspan(std::size_t(row.offset), std::size_t(row.bytes)));
      std::memcpy(rows.data() + at, &row, sizeof row);
    }
    head.directory_checksum = checksum_of(rows);
  }
  head.file_bytes = bytes.size(), head.bytes = sizeof head, head.version = format_version;
  std::memcpy(head.magic, magic, sizeof magic);
  if (made_by) {
    std::memset(head.cameo, 0, sizeof head.cameo), std::memset(head.architecture, 0, sizeof head.architecture);
    made_by->cameo.copy(head.cameo, sizeof head.cameo);
    made_by->architecture.copy(head.architecture, sizeof head.architecture);
  }
  std::memcpy(bytes.data(), &head, sizeof head);
  head.checksum = checksum_of(bytes.first(offsetof(header, checksum)));
  std::memcpy(bytes.data(), &head, sizeof head);
}
}  // namespace cameo::test
