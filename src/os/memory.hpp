#pragma once
#include "os/handle.hpp"

#include <cameo/core/result.hpp>

#include <cstddef>
#include <span>

CAMEO_BEGIN_NAMESPACE
namespace os {

std::size_t page_size() noexcept;
/// Requests large pages for memory that is read as a whole again and again: with small ones, reads also wait for page
/// tables. A hint.
void prefer_large_pages(void* memory, std::size_t bytes) noexcept;

/// The first bytes of a file in memory, for reading. They remain there until unmap(), whatever happens to the file's
/// name. `bytes` is not 0.
result<std::span<const std::byte>> map(const handle&, std::size_t bytes);
void unmap(std::span<const std::byte>) noexcept;
/// Releases the memory of mapped pages, which are read from the file again when they are used. The first byte is the
/// first of a page. A hint: where it fails, the memory remains in use.
void forget_pages(std::span<const std::byte>) noexcept;
/// Copies mapped bytes. FAIL where the file has become shorter since; reading such bytes would end the process.
status copy_mapped(std::span<const std::byte> from, std::byte* to);

}  // namespace os
CAMEO_END_NAMESPACE
