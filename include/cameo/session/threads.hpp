#pragma once
#include <cameo/core/result.hpp>
#include <cameo/run/task_pool.hpp>

#include <memory>

namespace CAMEO_NAMESPACE {

/// The number of threads that this process may keep busy: the cpuset's processors, or fewer when a CPU quota (cgroup v1
/// or v2, this group and those above it) allows less; a fraction counts as one. At least 1.
CAMEO_API std::size_t available_threads();

/// cameo's own task_pool. Threads sleep between runs; inside a run they wait for the next parallel region by spinning
/// for at most 50 us, then asleep. A second caller does its work on its own thread while the pool is busy. Thread-safe.
class thread_pool {
 public:
  /// `threads` in all, the caller included; threads - 1 are started. Where the system starts no more, the pool has
  /// fewer, as concurrency() reports. OUT_OF_MEMORY when there is no memory for the pool itself.
  CAMEO_API static result<std::unique_ptr<thread_pool>> make(std::size_t threads, bool spin = true);
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;
  CAMEO_API ~thread_pool();

  /// As task_pool and scoped_task_pool require: number of threads, work for them, and when they may sleep.
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
