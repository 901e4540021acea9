#include "os/interrupts.hpp"

#include <atomic>
#include <csignal>

namespace CAMEO_NAMESPACE::os {
namespace {

constexpr int interrupts[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<void (*)()> handler_of_interrupts{nullptr};
static_assert(std::atomic<void (*)()>::is_always_lock_free);

/// Sets the action for each of the signals `interrupts` that is not ignored. The flag SA_RESTART is not set, so that a
/// signal also ends a read that waits for a pipe.
void handle_interrupts(void (*action)(int)) {
  struct sigaction how{};
  how.sa_handler = action;
  for (const int each : interrupts) {
    struct sigaction before{};
    if (::sigaction(each, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) ::sigaction(each, &how, nullptr);
  }
}

}  // namespace

void on_interrupt(void (*handler)()) {
  handler_of_interrupts = handler;
  handle_interrupts([](int) { handler_of_interrupts.load()(); });
}

void ignore_interrupts() { handle_interrupts(SIG_IGN); }

void survive_failed_writes() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace CAMEO_NAMESPACE::os
