#pragma once
#include <cameo/core/abi.hpp>

#include <cstddef>
#include <string_view>

namespace cameo::inline CAMEO_ABI {

/// The result of next_character for bytes that are no character.
inline constexpr char32_t no_character = ~char32_t{0};

/// Takes the next character of UTF-8 off a text that is not empty; of bytes that are none, one byte.
inline char32_t next_character(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? unsigned(static_cast<unsigned char>(text[i])) : 0u; };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
  constexpr unsigned masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07}, least[] = {0, 0, 0x80, 0x800, 0x10000};
  char32_t made = char32_t(first & masks[length]);
  bool sound = length != 0;
  for (std::size_t i = 1; i < length; ++i) {
    sound &= byte(i) >> 6 == 2;
    made = made << 6 | char32_t(byte(i) & 0x3F);
  }
  sound = sound && made >= least[length] && made <= 0x10FFFF && made >> 11 != 0x1B;
  text.remove_prefix(sound ? length : 1);
  return sound ? made : no_character;
}

}  // namespace cameo::inline CAMEO_ABI
