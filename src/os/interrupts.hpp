#pragma once
#include <cameo/core/abi.hpp>

namespace CAMEO_NAMESPACE::os {

/// Calls `handler` when the user ends the program: by Ctrl-C, by closing the terminal, or by a signal to end. It may be
/// called at any time and by any thread, so it uses nothing but lock-free atomics and std::_Exit. Signals that were
/// ignored when the program started, as in a background job of a script, remain ignored. A read_stream() that waits
/// ends.
void on_interrupt(void (*handler)());
void ignore_interrupts();

/// From now on, writing into a pipe without a reader, or beyond the limit on the size of files, is an error of the
/// write and does not end the program.
void survive_failed_writes();

}  // namespace CAMEO_NAMESPACE::os
