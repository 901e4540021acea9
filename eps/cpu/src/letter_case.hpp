#pragma once
#include <cameo/core/abi.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cameo::inline CAMEO_ABI::eps {

/// Unicode's simple case mappings, one code point to one, for the scripts that have case and are in daily use: Latin
/// (to Extended-A, B in part, Additional), Greek, Cyrillic, Armenian, and the wide forms. Everything else is left
/// alone.
char32_t to_lower(char32_t);
char32_t to_upper(char32_t);

/// Takes the first code point off `text`. A byte that starts no well-formed one comes back as itself plus `raw_byte`.
inline constexpr char32_t raw_byte = 0x1000000;
char32_t next_code_point(std::string_view& text);
/// Writes a code point (or raw byte) and tells how many bytes it took, at most 4.
std::size_t write_code_point(char32_t, char* to);

}  // namespace cameo::inline CAMEO_ABI::eps
