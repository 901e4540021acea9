#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace cameo::program {

/// How a job in a child process ended.
struct child_end {
  std::string output;   // what `work` returned; empty when it did not get so far
  std::string failure;  // "crashed: Segmentation fault", "timeout after 60 s"; empty: it returned
  double seconds = 0;
};

/// Calls work(0) ... work(count - 1) in forked children, `jobs` of them at once. A child does one after the other,
/// since a fork costs more than most jobs, until one crashes or takes longer than `timeout`: that ends the child, and
/// another one goes on with what is left. `done` is called in the parent, in the order of ending. The parent has one
/// thread only. When the user stops it (interrupt), children that still run are ended, and `done` is not called for
/// their jobs and for later ones.
void run_isolated(std::size_t count, std::size_t jobs, std::chrono::duration<double> timeout,
                  const std::function<std::string(std::size_t)>& work,
                  const std::function<void(std::size_t, child_end)>& done);

}  // namespace cameo::program
