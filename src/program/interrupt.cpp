#include "program/interrupt.hpp"

#include "os/interrupts.hpp"

#include <atomic>
#include <cstdlib>

namespace cameo::program {
namespace {

std::atomic<bool> noted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void end() { std::_Exit(interrupt::exit_code); }

void note() {
  if (noted.exchange(true)) std::_Exit(interrupt::exit_code);
}

struct noted_token {
  bool stop_requested() const { return noted.load(std::memory_order_relaxed); }
};

}  // namespace

void interrupt::end_at_once() { os::on_interrupt(end); }
void interrupt::listen() { os::on_interrupt(note); }
void interrupt::ignore() {
  os::ignore_interrupts();
  noted = false;
}
bool interrupt::happened() noexcept { return noted.load(std::memory_order_relaxed); }
stop_token interrupt::token() { return stop_token{noted_token{}}; }

}  // namespace cameo::program
