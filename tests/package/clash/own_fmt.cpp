// A program with an fmt of its own, found as everybody finds it. Beside the stand-in it must fail: that is how the test
// knows that the stand-in is in the way.
#include <fmt/format.h>
#include <cstdio>

int main() {
  const std::string text = fmt::format("{} {:.2f}", 42, 1.5);
  std::puts(text == "42 1.50" ? "ok" : "wrong");
  return text == "42 1.50" ? 0 : 1;
}
