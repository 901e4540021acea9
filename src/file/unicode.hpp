#pragma once
#include <cameo/core/abi.hpp>

#include <string>
#include <string_view>

namespace CAMEO_NAMESPACE {

/// The result of next_character for bytes that are not valid UTF-8.
inline constexpr char32_t no_character = ~char32_t{0};

/// Removes the next UTF-8 character from a text that is not empty, and returns it; if the bytes are invalid, it removes
/// one byte.
char32_t next_character(std::string_view& text);

/// The result of is_normal.
enum class normality { normal, not_nfc, too_many_accents };

/// Checks whether a UTF-8 text is in Unicode's form NFC: a letter with accents is a single character if one exists, and
/// accents are in canonical order. Characters that are newer than utf8proc do not combine. More than 30 accents on one
/// letter are too many, as in Unicode's stream-safe form, because the time to sort them grows with their square.
normality is_normal(std::string_view);

/// The text after Unicode's full case folding, for comparison without regard to case; invalid bytes are unchanged. It
/// is used for names, because some systems consider names equal that differ only in case.
std::string without_case(std::string_view);

}  // namespace CAMEO_NAMESPACE
