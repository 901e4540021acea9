#include "program/interrupt.hpp"

#include <atomic>
#include <csignal>

#include <unistd.h>

namespace cameo::program {
namespace {

std::atomic<bool> noted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

constexpr int stopping[] = {SIGINT, SIGTERM, SIGHUP};

void end(int) { ::_exit(interrupt::exit_code); }

void note(int) {
  if (noted.exchange(true)) ::_exit(interrupt::exit_code);
}

/// Without SA_RESTART: a read from a pipe that gives nothing ends, too.
void handle(void (*by)(int)) {
  struct sigaction how{};
  how.sa_handler = by;
  for (const int each : stopping) {
    struct sigaction before{};
    if (::sigaction(each, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) ::sigaction(each, &how, nullptr);
  }
}

struct noted_token {
  bool stop_requested() const { return noted.load(std::memory_order_relaxed); }
};

}  // namespace

void interrupt::end_at_once() { handle(end); }
void interrupt::listen() { handle(note); }
void interrupt::ignore() {
  handle(SIG_IGN);
  noted = false;
}
bool interrupt::happened() noexcept { return noted.load(std::memory_order_relaxed); }
stop_token interrupt::token() { return stop_token{noted_token{}}; }

}  // namespace cameo::program
