#pragma once
#include <cameo/plan/plan.hpp>
#include <cameo/run/task_pool.hpp>

namespace CAMEO_NAMESPACE {

/// The conditions under which a run ends early. They are checked before every step, and within a step before each task
/// of run_context::parallel(): a thread works at most 2 ms between two checks, except in kernels that wait for another
/// library.
struct stop_condition {
  bool (*requested)(const void* self) = nullptr;  // thread-safe; null: never
  const void* self = nullptr;
  std::int64_t (*now)() = nullptr;  // nanoseconds of a steady clock, read about every 100 us of work; needed for a
                                    // deadline
  std::int64_t deadline = 0;        // by that clock; 0: no deadline
};

/// Receives the times of steps. `record` is called after every step with the step's start and end, in nanoseconds of
/// `now`, perhaps by several threads at once for steps of one level. Its `values` are those of the step's frame,
/// indexed by slot: the outputs of the step are complete; of all other values only types and shapes are valid.
struct step_observer {
  void* self = nullptr;
  std::int64_t (*now)() = nullptr;
  void (*record)(void* self, const plan_step&, std::int64_t start, std::int64_t end, std::size_t lane,
                 const value* values) = nullptr;
  /// Called by each thread of the pool after each task of a step's parallel loop, with the task's start and end; null:
  /// not called.
  void (*piece)(void* self, const plan_step&, std::int64_t start, std::int64_t end, std::size_t lane) = nullptr;
};

/// The options of one run. The objects that they refer to outlive the run.
struct run_options {
  detail::task_pool_ref pool = {};  // empty: only the calling thread
  stop_condition stop = {};
  const step_observer* observer = nullptr;  // null: steps are not observed
  bool denormals_as_zero = false;           // denormal floats count as zero, on all threads
};

/// Runs one plan, one run at a time. It keeps the frame, memory and tables between runs: after the largest run so far,
/// a run of one thread makes no heap call, takes no lock and makes no system call.
class runner {
 public:
  /// Makes a runner in `memory`, where its tables grow. The memory, the plan and the sources outlive the runner, which
  /// the caller destroys with std::destroy_at. Fixed memory is allocated at once. `limit` is the number of bytes that
  /// the runner may allocate in all; OUT_OF_MEMORY beyond it, and when the arena or a source is used up.
  /// NOT_IMPLEMENTED for more than 8 kinds of memory.
  CAMEO_API static result<runner*> make(const plan_view&, std::span<const memory_source>, arena& memory,
                                        std::size_t limit = std::size_t(-1) / 2);
  runner(const runner&) = delete;
  runner& operator=(const runner&) = delete;
  CAMEO_API ~runner();

  /// Runs the plan once. `inputs` and `outputs` are in the plan's order; the caller checks types and shapes of inputs.
  /// An output with `data` is the caller's memory, with the size of `type` and `shape`; the value is returned with its
  /// actual shape. Other outputs are returned in the runner's memory, valid until the next run. Not thread-safe.
  ///   CANCELED, DEADLINE_EXCEEDED  the stop condition ended the run
  ///   OUT_OF_MEMORY                memory or the limit is used up
  ///   INVALID_ARGUMENT             an output does not fit into the caller's memory; a kernel rejects its data
  ///   RUNTIME_EXCEPTION            a kernel threw an exception
  /// After an error the outputs are undefined, and the next run starts afresh.
  CAMEO_API status run(std::span<const value> inputs, std::span<value> outputs, const run_options&);

  /// The bytes allocated from the sources for values.
  CAMEO_API std::size_t arena_bytes() const;

  struct impl;

 private:
  explicit runner(impl* self) : impl_{self} {}
  friend class arena;
  impl* impl_;
};

}  // namespace CAMEO_NAMESPACE
