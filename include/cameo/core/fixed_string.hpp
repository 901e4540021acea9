#pragma once
#include <cameo/core/abi.hpp>

#include <cstddef>
#include <string_view>

namespace CAMEO_NAMESPACE::detail {
/// Text as a template argument: constrain<"T", float>. It is part of the type, so it costs no relocation.
template <std::size_t N>
struct fixed_string {
  char chars[N]{};

  constexpr fixed_string(const char (&literal)[N]) {
    for (std::size_t i = 0; i < N; ++i) chars[i] = literal[i];
  }
  constexpr operator std::string_view() const { return {chars, N - 1}; }
};
template <std::size_t N>
fixed_string(const char (&)[N]) -> fixed_string<N>;
}  // namespace CAMEO_NAMESPACE::detail
