#pragma once
#include <cameo/core/abi.hpp>

CAMEO_BEGIN_NAMESPACE
namespace os {

/// Has `handler` called when the user wants the program to end: by Ctrl-C, by closing the terminal, or by asking the
/// system. It may be called at any time and by any thread, so it uses nothing but lock-free atomics and std::_Exit.
/// What the program was started to ignore, as a job in the background of a script is, it goes on ignoring. A
/// read_stream() that waits ends.
void on_interrupt(void (*handler)());
void ignore_interrupts();

/// Writing into a pipe that has no reader, or beyond the limit on the size of files, is an error of the write from here
/// on, and does not end the program.
void survive_failed_writes();

}  // namespace os
CAMEO_END_NAMESPACE
