#pragma once
#include <cstdint>
#include <string>

/// Functions that encode protobuf's wire format, for messages that protobuf would not write.
namespace cameo::test {

inline std::string varint(std::uint64_t number) {
  std::string made;
  for (; number >= 0x80; number >>= 7) made += char(number | 0x80);
  return made + char(number);
}
inline std::string key(unsigned field, unsigned wire) { return varint(field << 3 | wire); }
/// The key and the length that precede a message, a text or bytes.
inline std::string begin_of(unsigned field, std::size_t length) { return key(field, 2) + varint(length); }
inline std::string wrap(unsigned field, const std::string& inside) { return begin_of(field, inside.size()) + inside; }

}  // namespace cameo::test
