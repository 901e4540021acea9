#pragma once
#include <cameo/core/status.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

/// Conversions of texts to a file's bytes and of bytes to text for error messages.
namespace cameo::test {

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}

inline bool says(const status& s, std::string_view words) { return s.words().find(words) != std::string_view::npos; }

}  // namespace cameo::test
