#pragma once
#include <cameo/core/abi.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace CAMEO_NAMESPACE {

/// Computes the SHA-256 of bytes that are added in pieces (FIPS 180-4).
class sha256 {
 public:
  void add(std::span<const std::byte>);
  void add(std::string_view text) { add(std::as_bytes(std::span{text.data(), text.size()})); }
  /// The hash as 64 lower-case hexadecimal digits. Must be called once; no bytes can be added afterwards.
  std::string hex();

 private:
  void block(const std::uint8_t*);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> rest_{};
  std::uint64_t bytes_ = 0;
};

}  // namespace CAMEO_NAMESPACE
