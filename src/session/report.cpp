// Prints messages and values for display.
#include <cameo/session/session.hpp>

#include "file/unicode.hpp"
#include "os/terminals.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace CAMEO_NAMESPACE {
namespace {

/// True if output to a stream may be colored: it is a terminal, and NO_COLOR is not set to a non-empty text
/// (https://no-color.org).
bool shows_color(std::FILE* to) {
  const char* const no = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return !(no && *no) && terminal && std::string_view{terminal} != "dumb" && os::is_terminal(to);
}

bool is_line_break_or_tab(char32_t c) {
  return c == '\n' || c == '\r' || c == '\t' || c == 0x85 || c == 0x2028 || c == 0x2029;
}

/// True for characters that control a terminal (the C0 and C1 control characters; U+009B begins a sequence as ESC [
/// does) or the direction of text.
bool is_control(char32_t c) {
  struct range {
    char32_t first, last;
  };
  static constexpr range all[] = {{0, 0x1F},        {0x7F, 0x9F},     {0x61C, 0x61C},
                                  {0x200E, 0x200F}, {0x202A, 0x202E}, {0x2066, 0x2069}};
  return std::any_of(std::begin(all), std::end(all), [c](const range& r) { return c >= r.first && c <= r.last; });
}

}  // namespace

std::string one_line(std::string_view words) {
  while (!words.empty() && words.back() == '\n') words.remove_suffix(1);
  std::string line;
  line.reserve(words.size());
  while (!words.empty()) {
    const std::string_view before = words;
    const char32_t c = next_character(words);
    if (is_line_break_or_tab(c)) line += ' ';
    else if (c == no_character || is_control(c)) line += '?';
    else line += before.substr(0, before.size() - words.size());
  }
  return line;
}

int report(const status& s) {
  const bool color = shows_color(stderr);
  const std::string words = s.words().empty() ? "no details" : one_line(s.words());
  std::fprintf(stderr, "%serror: %s%s:%s %s\n", color ? "\033[1;31m" : "", color ? "\033[0;1m" : "", s.name(),
               color ? "\033[0m" : "", words.c_str());
  return 1;
}

int print(const named_values& values) {
  for (const named_value& each : values)
    std::printf("%s = %s\n", one_line(each.name).c_str(), one_line(to_string(each.value.view())).c_str());
  return 0;
}

}  // namespace CAMEO_NAMESPACE
