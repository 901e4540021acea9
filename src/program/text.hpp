#pragma once
#include <cameo/core/status.hpp>

#include <string_view>

namespace cameo::program {

/// Returns INVALID_ARGUMENT with this message, for a user's input or a file that is not as expected.
inline status bad(std::string_view words) { return {status_code::invalid_argument, words}; }

/// A text without the blanks and line ends at its beginning and end.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  return first == text.npos ? std::string_view{} : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace cameo::program
