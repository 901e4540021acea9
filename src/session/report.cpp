// What is printed for people.
#include <cameo/session/session.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace cameo::inline CAMEO_ABI {
namespace {

/// https://no-color.org: any value but an empty one.
bool shows_colour(std::FILE* to) {
  const char* const no = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return !(no && *no) && terminal && std::string_view{terminal} != "dumb" && ::isatty(::fileno(to)) == 1;
}

}  // namespace

std::string one_line(std::string_view words) {
  std::string line{words};
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  for (char& c : line) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
    else if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  }
  return line;
}

int report(const status& s) {
  const bool colour = shows_colour(stderr);
  const std::string words = s.words().empty() ? "no details" : one_line(s.words());
  std::fprintf(stderr, "%serror: %s%s:%s %s\n", colour ? "\033[1;31m" : "", colour ? "\033[0;1m" : "", s.name(),
               colour ? "\033[0m" : "", words.c_str());
  return 1;
}

int print(const named_values& values) {
  for (const named_value& each : values)
    std::printf("%s = %s\n", each.name.c_str(), to_string(each.value.view()).c_str());
  return 0;
}

}  // namespace cameo::inline CAMEO_ABI
