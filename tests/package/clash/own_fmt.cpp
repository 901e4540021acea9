// A program that uses the system's fmt. With the stand-in library preloaded it must fail, which proves that the
// stand-in replaces fmt's functions.
#include <fmt/format.h>
#include <cstdio>

int main() {
  const std::string text = fmt::format("{} {:.2f}", 42, 1.5);
  std::puts(text == "42 1.50" ? "ok" : "wrong");
  return text == "42 1.50" ? 0 : 1;
}
