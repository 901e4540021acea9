#pragma once
#include <cameo/session/session.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace cameo::program {

/// Text that say() prints unchanged: text of the program itself, or lines that were escaped before.
struct as_it_is {
  std::string text;
};

/// An argument as say() prints it: line breaks and control characters in text are escaped by one_line().
template <class T>
auto shown(const T& argument) {
  if constexpr (std::is_same_v<T, as_it_is>) return argument.text;
  else if constexpr (std::is_convertible_v<const T&, std::string_view>) return one_line(argument);
  else return argument;
}
template <class T>
using shown_t = decltype(shown(std::declval<const T&>()));

/// Prints a line for display. The program prints in no other way (tests/layers.py checks that), because arguments may
/// be names from a model, and no name may send control characters to the terminal or start a new line. The format
/// itself is not escaped. Errors of writing set the stream's error indicator, which main() checks.
template <class... Args>
void say(std::FILE* to, fmt::format_string<shown_t<Args>...> format, const Args&... arguments) {
  const std::string text = fmt::format(format, shown(arguments)...);
  std::fwrite(text.data(), 1, text.size(), to);
}
template <class... Args>
void say(fmt::format_string<shown_t<Args>...> format, const Args&... arguments) {
  say(stdout, format, arguments...);
}

}  // namespace cameo::program
