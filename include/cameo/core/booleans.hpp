#pragma once
#include <cameo/core/arena.hpp>
#include <cameo/core/value.hpp>

namespace CAMEO_NAMESPACE {

/// True if each byte is 0 or 1, so that the bytes may be read as `bool`s.
inline bool are_booleans(std::span<const std::byte> bytes) noexcept {
  unsigned seen = 0;
  for (std::byte b : bytes) seen |= unsigned(b);
  return seen <= 1;
}

/// Writes 1 to to[i] where from[i] is not 0, and 0 elsewhere. `to` has from.size() bytes and may be `from`.
inline void to_booleans(std::span<const std::byte> from, void* to) noexcept {
  auto* const bytes = static_cast<std::uint8_t*>(to);
  for (std::size_t i = 0; i < from.size(); ++i) bytes[i] = from[i] != std::byte{0};
}

/// Makes a tensor from a file safe for kernels: bools other than 0 and 1 become 1, in a copy that lies in `memory`. All
/// other tensors are returned unchanged, without a copy. OUT_OF_MEMORY.
inline result<value> with_booleans(const value& v, arena& memory) {
  if (v.type != dtype::boolean) return v;
  const std::span<const std::byte> bytes{static_cast<const std::byte*>(v.data), v.bytes()};
  if (are_booleans(bytes)) return v;
  value made = v;
  made.data = memory.allocate(bytes.size(), 1);
  if (!made.data) return status_code::out_of_memory;
  to_booleans(bytes, made.data);
  return made;
}

}  // namespace CAMEO_NAMESPACE
