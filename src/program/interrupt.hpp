#pragma once
#include <cameo/session/stop.hpp>

namespace cameo::program {

/// Ctrl-C, or a terminal that is closed, of commands that measure: they end soon, and say what they have until then. A
/// second one ends the program at once, with the same exit status.
class interrupt {
 public:
  static constexpr int exit_code = 130;

  /// SIGINT, SIGTERM and SIGHUP end the program with that exit status instead of by a signal; where they are ignored,
  /// as in a script's background, they stay ignored.
  static void end_at_once();
  /// From here on they are noted instead.
  static void listen();
  /// They are ignored: of child processes, which their parent ends.
  static void ignore();
  static bool happened() noexcept;
  /// Asks to stop once it has happened.
  static stop_token token();
};

}  // namespace cameo::program
