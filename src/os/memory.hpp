#pragma once
#include "os/handle.hpp"

#include <cameo/core/result.hpp>

#include <cstddef>
#include <span>

namespace CAMEO_NAMESPACE::os {

std::size_t page_size() noexcept;
/// Requests large pages for memory that is repeatedly read as a whole: with small pages, reads also wait for page
/// tables. A hint.
void prefer_large_pages(void* memory, std::size_t bytes) noexcept;

/// Maps the first bytes of a file for reading. They remain valid until unmap(), even if the file is renamed or removed.
/// `bytes` is not 0.
result<std::span<const std::byte>> map(const handle&, std::size_t bytes);
void unmap(std::span<const std::byte>) noexcept;
/// Releases the memory of mapped pages, which are read from the file again on the next access. The first byte is the
/// first of a page. A hint: the memory remains in use if it fails.
void forget_pages(std::span<const std::byte>) noexcept;
/// Copies mapped bytes. FAIL if the file was shortened since; a plain read of such bytes would end the process.
status copy_mapped(std::span<const std::byte> from, std::byte* to);

}  // namespace CAMEO_NAMESPACE::os
