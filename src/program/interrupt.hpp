#pragma once
#include <cameo/session/stop.hpp>

namespace cameo::program {

/// How the program reacts to SIGINT (Ctrl-C), SIGTERM and SIGHUP (the terminal was closed). Commands that measure stop
/// soon and print what they measured so far; a second signal then ends the program at once. All functions are
/// process-wide.
class interrupt {
 public:
  static constexpr int exit_code = 130;

  /// From now on, a signal ends the program with `exit_code`. Signals that are ignored, as in jobs that a script starts
  /// in the background, remain ignored.
  static void end_at_once();
  /// From now on, the first signal only sets happened().
  static void listen();
  /// From now on, signals are ignored. For child processes: the parent gets the signals, too, and ends its children.
  static void ignore();
  static bool happened() noexcept;
  /// A token that requests a stop once happened() is true.
  static stop_token token();
};

}  // namespace cameo::program
