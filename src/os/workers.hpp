#pragma once
#include "os/handle.hpp"

#include <cameo/core/function_ref.hpp>
#include <cameo/core/result.hpp>

#include <chrono>
#include <span>
#include <string>
#include <vector>

namespace CAMEO_NAMESPACE::os {

/// How a process ended.
struct process_end {
  std::string signal;   // "Segmentation fault"; empty if no signal ended it
  int exit_status = 0;  // if no signal ended it
};

/// A process that works for this one and may crash without harm to it. They exchange bytes through pipes. It ends with
/// this process at the latest.
class worker {
 public:
  /// Starts a copy of this process, which must have one thread only, and calls `work` in it with its ends of the pipes.
  /// The copy ends with the status that `work` returns; no destructor is called and no buffer is written. `others` are
  /// all running workers, whose pipes the new one must close. FAIL if the system cannot start a process,
  /// NOT_IMPLEMENTED if it cannot copy processes.
  static result<worker> start(detail::function_ref<int(const handle& from, const handle& to)> work,
                              std::span<const worker* const> others);

  /// This process's ends of the pipes: `input` for writing to the worker, `output` for reading from it.
  const handle& input() const { return input_; }
  const handle& output() const { return output_; }
  /// Ends the worker at once.
  void kill() const;
  /// Closes the pipes and waits for the worker's end. Must be called exactly once.
  process_end wait();

 private:
  worker(std::int64_t number, handle input, handle output)
      : number_{number}, input_{std::move(input)}, output_{std::move(output)} {}
  std::int64_t number_;
  handle input_, output_;
};

/// Waits until at least one worker has written bytes or has closed its pipe, and returns which ones. Empty if a signal
/// came first; no element is true if the time is over.
std::vector<bool> wait_for_any(std::span<const worker* const>, std::chrono::milliseconds most);

}  // namespace CAMEO_NAMESPACE::os
