#pragma once
#include <cameo/plan/plan.hpp>
#include <cameo/run/task_pool.hpp>

namespace cameo::inline CAMEO_ABI {

/// When a run should end early. Asked before every step, and within a step before every piece of work that
/// run_context::parallel is given: a thread does at most 2 ms of work between two questions, but for kernels that wait
/// for another library.
struct stop_condition {
  bool (*requested)(const void* self) = nullptr;  // thread-safe; null: never
  const void* self = nullptr;
  std::int64_t (*now)() = nullptr;  // nanoseconds of a steady clock; needed for a deadline,
                                    // and read about every 100 us of work
  std::int64_t deadline = 0;        // by that clock; 0: none
};

/// Told of every step, its start and end in nanoseconds of `now`. Steps of one level may be told of at once.
struct step_observer {
  void* self = nullptr;
  std::int64_t (*now)() = nullptr;
  void (*record)(void* self, const plan_step&, std::int64_t start, std::int64_t end, std::size_t lane) = nullptr;
};

/// How one run goes; what it refers to outlives the run.
struct run_options {
  task_pool_ref pool = {};  // without one: the calling thread alone
  stop_condition stop = {};
  const step_observer* observer = nullptr;  // null: nobody is told
};

/// Runs one plan, one run at a time: frame, memory and tables of a run, kept from one to the next. Once it has seen its
/// high-water mark a run of one thread makes no heap call, takes no lock and makes no system call.
class runner {
 public:
  /// Lies in `memory`, which must outlive it, as the plan and the sources must; its tables grow there. Fixed memory is
  /// taken at once. `limit`: bytes it may take in all; more is OUT_OF_MEMORY, as are an arena and a source that have no
  /// more. NOT_IMPLEMENTED for more than 8 kinds of memory. The caller destroys it
  /// (std::destroy_at) before the arena goes.
  CAMEO_API static result<runner*> make(const plan_view&, std::span<const memory_source>, arena& memory,
                                        std::size_t limit = std::size_t(-1) / 2);
  runner(const runner&) = delete;
  runner& operator=(const runner&) = delete;
  CAMEO_API ~runner();

  /// One run. `inputs` and `outputs` in the plan's order; types and shapes of inputs are the caller's to check. An
  /// output that comes with `data` is the caller's memory: `type` and `shape` say what fits; the value comes back
  /// with its real shape. Others come back in the runner's memory, good until the next run. Not thread-safe.
  ///   CANCELED, DEADLINE_EXCEEDED  as the stop condition says
  ///   OUT_OF_MEMORY                memory or the limit is used up
  ///   INVALID_ARGUMENT             an output does not fit into the caller's memory; what kernels say of their data
  ///   RUNTIME_EXCEPTION            a kernel threw
  /// After an error outputs mean nothing, and the next run starts afresh.
  CAMEO_API status run(std::span<const value> inputs, std::span<value> outputs, const run_options&);

  /// Bytes taken from the sources for values.
  CAMEO_API std::size_t arena_bytes() const;

  struct impl;

 private:
  explicit runner(impl* self) : impl_{self} {}
  friend class arena;
  impl* impl_;
};

}  // namespace cameo::inline CAMEO_ABI
