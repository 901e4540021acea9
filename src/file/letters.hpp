#pragma once
#include <cameo/core/abi.hpp>

#include <string>
#include <string_view>

namespace CAMEO_NAMESPACE {

/// The letters A to Z in lower case, whatever the locale: of names that count as one when they differ in case alone.
inline std::string lower_case(std::string_view text) {
  std::string made{text};
  for (char& c : made)
    if (c >= 'A' && c <= 'Z') c = char(c + ('a' - 'A'));
  return made;
}

}  // namespace CAMEO_NAMESPACE
