#pragma once
#include <cameo/session/session.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace cameo::program {

/// Text that say() prints unchanged: the program's own text, or several lines that are clean already.
struct as_it_is {
  std::string text;
};

/// How say() treats an argument: text goes through one_line().
template <class T>
auto shown(const T& argument) {
  if constexpr (std::is_same_v<T, as_it_is>) return argument.text;
  else if constexpr (std::is_convertible_v<const T&, std::string_view>) return one_line(argument);
  else return argument;
}
template <class T>
using shown_t = decltype(shown(std::declval<const T&>()));

/// How the program prints for people, and the only way (tests/layers.py): words may be names that a model brings, and
/// no name controls the terminal or begins a line of its own. The format itself is printed as it is. What can't be
/// written is noted in the stream, and main() looks.
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
