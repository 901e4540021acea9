#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace cameo::program {

/// How a job in a child process ended.
struct child_end {
  std::string output;   // what `work` returned; empty if it did not return
  std::string failure;  // "crashed: Segmentation fault", "timeout after 60 s"; empty: `work` returned
  double seconds = 0;
};

/// Calls work(0) ... work(count - 1) in forked child processes, `jobs` of them at a time. A child does many jobs, since
/// a fork costs more than most jobs. If a job crashes or takes longer than `timeout`, its child ends and another one
/// does the remaining jobs. `done` is called in the parent process, in the order in which jobs end. The parent must
/// have one thread only, because it forks. If the user interrupts the program, the children are killed, and `done` is
/// not called for the jobs that have not ended.
void run_isolated(std::size_t count, std::size_t jobs, std::chrono::duration<double> timeout,
                  const std::function<std::string(std::size_t)>& work,
                  const std::function<void(std::size_t, child_end)>& done);

}  // namespace cameo::program
