#pragma once
#include <cameo/core/abi.hpp>

#include <string>
#include <string_view>

namespace CAMEO_NAMESPACE {

/// Converts the letters A to Z to lower case, independently of the locale, to compare names without regard to case.
inline std::string lower_case(std::string_view text) {
  std::string made{text};
  for (char& c : made)
    if (c >= 'A' && c <= 'Z') c = char(c + ('a' - 'A'));
  return made;
}

}  // namespace CAMEO_NAMESPACE
