#include "unicode.hpp"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <new>

namespace CAMEO_NAMESPACE {
namespace {

const utf8proc_uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const utf8proc_uint8_t*>(text.data());
}

constexpr std::size_t most_parts = 4;  // the greatest number of characters in the decomposition of one

/// Counts accents after decomposition, because normalization sorts those, and some characters decompose to accents.
bool has_too_many_accents(std::string_view text) {
  constexpr std::size_t most_accents = 30;
  std::size_t accents = 0;
  while (!text.empty()) {
    const char32_t c = next_character(text);
    if (c == no_character) continue;
    utf8proc_int32_t parts[most_parts];
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(utf8proc_int32_t(c), parts, most_parts, UTF8PROC_DECOMPOSE, nullptr);
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
      accents = utf8proc_get_property(parts[i])->combining_class != 0 ? accents + 1 : 0;
      if (accents > most_accents) return true;
    }
  }
  return false;
}

}  // namespace

char32_t next_character(std::string_view& text) {
  utf8proc_int32_t made = 0;
  const utf8proc_ssize_t length = utf8proc_iterate(bytes_of(text), utf8proc_ssize_t(text.size()), &made);
  text.remove_prefix(length > 0 ? std::size_t(length) : 1);
  return length > 0 ? char32_t(made) : no_character;
}

normality is_normal(std::string_view text) {
  if (has_too_many_accents(text)) return normality::too_many_accents;
  utf8proc_uint8_t* made = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(bytes_of(text), utf8proc_ssize_t(text.size()), &made,
                                             utf8proc_option_t(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (size == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc{};
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner{made, &std::free};
  const bool is_same = size >= 0 && text == std::string_view{reinterpret_cast<const char*>(made), std::size_t(size)};
  return is_same ? normality::normal : normality::not_nfc;
}

std::string without_case(std::string_view text) {
  std::string made;
  made.reserve(text.size());
  while (!text.empty()) {
    const char first = text.front();
    if (static_cast<unsigned char>(first) < 0x80) {  // the usual case
      made += first >= 'A' && first <= 'Z' ? char(first + ('a' - 'A')) : first;
      text.remove_prefix(1);
      continue;
    }
    const char32_t c = next_character(text);
    if (c == no_character) {
      made += first;
      continue;
    }
    utf8proc_int32_t folded[most_parts];
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(utf8proc_int32_t(c), folded, most_parts, UTF8PROC_CASEFOLD, nullptr);
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
      utf8proc_uint8_t bytes[4];
      const utf8proc_ssize_t size = utf8proc_encode_char(folded[i], bytes);
      made.append(reinterpret_cast<const char*>(bytes), std::size_t(size));
    }
  }
  return made;
}

}  // namespace CAMEO_NAMESPACE
