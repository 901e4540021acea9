#pragma once
#include <cameo/core/abi.hpp>

#include <string>
#include <string_view>

namespace CAMEO_NAMESPACE {

/// The result of next_character for bytes that are no character.
inline constexpr char32_t no_character = ~char32_t{0};

/// Takes the next character of UTF-8 off a text that is not empty; of bytes that are none, one byte.
char32_t next_character(std::string_view& text);

/// What is_normal found.
enum class normality { normal, not_nfc, too_many_accents };

/// Whether a text of UTF-8 is in Unicode's form NFC: where one character exists for a letter and its accents, it is
/// used, and accents are in their order. Characters that utf8proc does not know of yet combine with nothing. More than
/// 30 accents on a letter are too many, as in Unicode's stream-safe form: to sort them takes their number's square.
normality is_normal(std::string_view);

/// The text as Unicode compares texts without case (full case folding); bytes that are no UTF-8 stay. Of names that
/// count as one when they differ in case alone, since some systems take them for the same.
std::string without_case(std::string_view);

}  // namespace CAMEO_NAMESPACE
