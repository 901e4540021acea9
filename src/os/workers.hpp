#pragma once
#include "os/handle.hpp"

#include <cameo/core/function_ref.hpp>
#include <cameo/core/result.hpp>

#include <chrono>
#include <span>
#include <string>
#include <vector>

CAMEO_BEGIN_NAMESPACE
namespace os {

/// How a process ended.
struct process_end {
  std::string signal;   // "Segmentation fault"; empty if it ended by itself
  int exit_status = 0;  // then
};

/// A process that works for this one and may crash without harm to it: bytes go to it and come from it by pipes. It
/// does not live longer than this process.
class worker {
 public:
  /// Starts a copy of this process, which must have one thread only, and calls `work` in it with the ends of the pipes
  /// from and to this process. The copy ends with the status that `work` returns; no destructor is called and no buffer
  /// is written. `others` are all workers that run already, of which the new one must not hold the pipes. FAIL where
  /// the system has no process to give, NOT_IMPLEMENTED where it can't copy processes.
  static result<worker> start(detail::function_ref<int(const handle& from, const handle& to)> work,
                              std::span<const worker* const> others);

  /// The ends of the pipes that this process has.
  const handle& to() const { return to_; }
  const handle& from() const { return from_; }
  /// Ends it, whatever it does.
  void kill() const;
  /// Closes the pipes and waits for its end. It has to be called once.
  process_end wait();

 private:
  worker(std::int64_t number, handle to, handle from) : number_{number}, to_{std::move(to)}, from_{std::move(from)} {}
  std::int64_t number_;
  handle to_, from_;
};

/// Waits until there is something to read, or the end of the pipe, from at least one of them, and says from which.
/// Empty when a signal came before; none is set when the time is over.
std::vector<bool> wait_for_any(std::span<const worker* const>, std::chrono::milliseconds most);

}  // namespace os
CAMEO_END_NAMESPACE
