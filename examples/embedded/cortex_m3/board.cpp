// The minimum that a program needs on a Cortex-M3 without an operating system: the vector table from which the
// processor starts, initialization of static variables, and text output and an exit status by semihosting, that is,
// through the debugger or emulator that is connected to the processor.
#include "../board.hpp"

#include <cstdint>

// Symbols of device.ld.
extern "C" {
extern std::uint32_t data_source[], data_begin[], data_end[], zeros_begin[], zeros_end[], stack_top[];
int main();
}

namespace {

/// Performs a semihosting call; see Arm's "Semihosting for AArch32 and AArch64".
int semihosting_call(int operation, const void* argument) {
  register int r0 asm("r0") = operation;
  register const void* r1 asm("r1") = argument;
  asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

[[noreturn]] void leave(int status) {
  constexpr int exit_extended = 0x20;
  constexpr std::uint32_t application_exit = 0x20026;
  const std::uint32_t report[] = {application_exit, std::uint32_t(status)};
  for (;;) semihosting_call(exit_extended, report);
}

[[noreturn]] void start() {
  const std::uint32_t* from = data_source;
  for (std::uint32_t* to = data_begin; to != data_end;) *to++ = *from++;
  for (std::uint32_t* to = zeros_begin; to != zeros_end;) *to++ = 0;
  leave(main());
}

[[noreturn]] void fault() { leave(70); }

struct vectors {
  std::uint32_t* stack;
  void (*handlers[6])();  // reset, NMI, and four kinds of faults
};
}  // namespace

extern "C" const vectors table;
[[gnu::section(".vectors"), gnu::used]] const vectors table = {stack_top, {start, fault, fault, fault, fault, fault}};

void say(std::string_view text) {
  constexpr int write_character = 0x03;
  for (char c : text) semihosting_call(write_character, &c);
}
