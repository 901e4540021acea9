#pragma once
#include <cameo/plan/plan.hpp>
#include <cameo/run/task_pool.hpp>

CAMEO_BEGIN_NAMESPACE

/// When a run should end early. Checked before every step, and within a step before every piece of work that
/// run_context::parallel is given: a thread does at most 2 ms of work between two checks, except in kernels that wait
/// for another library.
struct stop_condition {
  bool (*requested)(const void* self) = nullptr;  // thread-safe; null: never
  const void* self = nullptr;
  std::int64_t (*now)() = nullptr;  // nanoseconds of a steady clock; needed for a deadline,
                                    // and read about every 100 us of work
  std::int64_t deadline = 0;        // by that clock; 0: none
};

/// Called for every step with its start and end in nanoseconds of `now`; for steps of one level perhaps at once.
/// `values`: by slot, as the step left them: its outputs whole, of others types and shapes, as elements may be gone.
struct step_observer {
  void* self = nullptr;
  std::int64_t (*now)() = nullptr;
  void (*record)(void* self, const plan_step&, std::int64_t start, std::int64_t end, std::size_t lane,
                 const value* values) = nullptr;
  /// Called by each thread of the pool for each piece of a step's loop that it has worked on; null: not called.
  void (*piece)(void* self, const plan_step&, std::int64_t start, std::int64_t end, std::size_t lane) = nullptr;
};

/// The options of one run; the objects that it refers to outlive the run.
struct run_options {
  detail::task_pool_ref pool = {};  // empty: the calling thread alone
  stop_condition stop = {};
  const step_observer* observer = nullptr;  // null: steps are not observed
  bool denormals_as_zero = false;           // floats that are too small to be normal count as zero, on all threads
};

/// Runs one plan, one run at a time; keeps the frame, memory and tables from one run to the next. Once it has seen its
/// high-water mark a run of one thread makes no heap call, takes no lock and makes no system call.
class runner {
 public:
  /// The runner lies in `memory`, which must outlive it, as must the plan and the sources; its tables grow there. Fixed
  /// memory is allocated at once. `limit`: bytes that it may allocate in all; OUT_OF_MEMORY beyond, and when the arena
  /// or a source has no more. NOT_IMPLEMENTED for more than 8 kinds of memory. The caller destroys the runner
  /// (std::destroy_at) before the arena.
  CAMEO_API static result<runner*> make(const plan_view&, std::span<const memory_source>, arena& memory,
                                        std::size_t limit = std::size_t(-1) / 2);
  runner(const runner&) = delete;
  runner& operator=(const runner&) = delete;
  CAMEO_API ~runner();

  /// One run. `inputs` and `outputs` are in the plan's order; the caller checks types and shapes of inputs. An
  /// output with `data` is the caller's memory, of the size that `type` and `shape` state; the value is returned
  /// with its real shape. Others are returned in the runner's memory, valid until the next run. Not thread-safe.
  ///   CANCELED, DEADLINE_EXCEEDED  by the stop condition
  ///   OUT_OF_MEMORY                memory or the limit is used up
  ///   INVALID_ARGUMENT             an output does not fit into the caller's memory; a kernel rejects its data
  ///   RUNTIME_EXCEPTION            a kernel threw
  /// After an error the outputs are undefined, and the next run starts afresh.
  CAMEO_API status run(std::span<const value> inputs, std::span<value> outputs, const run_options&);

  /// Bytes allocated from the sources for values.
  CAMEO_API std::size_t arena_bytes() const;

  struct impl;

 private:
  explicit runner(impl* self) : impl_{self} {}
  friend class arena;
  impl* impl_;
};

CAMEO_END_NAMESPACE
