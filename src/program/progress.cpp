#include "program/progress.hpp"

#include "os/terminals.hpp"
#include "program/say.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cameo::program {
namespace {

constexpr std::chrono::milliseconds patience{500}, pause{100};  // before the first drawing, and between two
constexpr std::size_t width = 30;

}  // namespace

progress_bar::progress_bar(bool quiet)
    : shown_{!quiet && os::is_terminal(stderr)}, next_{std::chrono::steady_clock::now() + patience} {}

void progress_bar::show(double fraction, std::string_view words) {
  if (!due()) return;
  next_ = std::chrono::steady_clock::now() + pause;
  drawn_ = true;
  const auto filled = std::size_t(double(width) * std::clamp(fraction, 0.0, 1.0));
  say(stderr, "\r[{:#<{}}{:.<{}}] {}\033[K", "", filled, "", width - filled, words);
  std::fflush(stderr);
}

void progress_bar::clear() {
  if (drawn_) say(stderr, "\r\033[K");
  drawn_ = false;
}

}  // namespace cameo::program
