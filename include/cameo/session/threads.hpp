#pragma once
#include <cameo/core/result.hpp>
#include <cameo/run/task_pool.hpp>

#include <memory>

namespace CAMEO_NAMESPACE {

/// The number of threads that this process may keep busy, at least 1: the number of processors in the cpuset, or fewer
/// if a CPU quota (cgroup v1 or v2, of this group and of its ancestors) allows fewer; a fraction is rounded up.
CAMEO_API std::size_t available_threads();

/// The default task_pool. Between runs its threads sleep; within a run, a thread spins for at most 50 us until the next
/// parallel region and then sleeps. While the pool is busy, other callers do their work on their own threads.
/// Thread-safe.
class thread_pool {
 public:
  /// Creates a pool of `threads` threads, including the caller's: threads - 1 are started. If the system refuses to
  /// start one, the pool has fewer, as concurrency() reports. OUT_OF_MEMORY when the pool itself can't be allocated.
  CAMEO_API static result<std::unique_ptr<thread_pool>> make(std::size_t threads, bool spin = true);
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;
  CAMEO_API ~thread_pool();

  /// The number of threads, including the caller's; see task_pool.
  CAMEO_API std::size_t concurrency() const;
  /// See task_pool.
  CAMEO_API void parallel(std::size_t count, task f);
  /// See scoped_task_pool.
  CAMEO_API void begin_run();
  /// See scoped_task_pool.
  CAMEO_API void end_run();

 private:
  struct impl;
  CAMEO_API explicit thread_pool(std::unique_ptr<impl>);
  std::unique_ptr<impl> impl_;
};
static_assert(scoped_task_pool<thread_pool>);

}  // namespace CAMEO_NAMESPACE
