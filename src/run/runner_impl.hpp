#pragma once
#include <cameo/run/runner.hpp>

#include "plan/tier.hpp"
#include "run/run_memory.hpp"
#include "run/shape_plans.hpp"

namespace CAMEO_NAMESPACE {

inline constexpr std::size_t max_memory_kinds = 8;

/// The owner of values in the frame's planned memory, which are copied before they are kept.
extern detail::storage_block planned_storage;

/// The values of one plan while it runs.
struct frame {
  const plan_view* plan = nullptr;
  value* values = nullptr;
  std::byte* regions[max_memory_kinds] = {};  // start of the fixed values, per memory kind

  /// The value of slot s at the start of a run.
  value start(slot s) const {
    value v = plan->initial[s];
    if (const std::size_t offset = plan->fixed.offsets[s]; offset != not_planned) {
      v.data = regions[v.memory] + offset;
      v.owner = &planned_storage;
    }
    return v;
  }
};

namespace detail {
struct subplan_frame {
  frame own;
  storage_block* block = nullptr;  // contains this struct and the values
  storage_block* regions[max_memory_kinds] = {};
  subplan_frame* next = nullptr;  // the frame that the same step opened before
};
}  // namespace detail

/// One step of a run, as the services need it.
class step_context : public run_context {
 public:
  step_context(runner::impl& r, std::size_t lanes, std::size_t lane);
  frame* current = nullptr;
  const plan_step* step = nullptr;
  std::size_t lane = 0;
  detail::storage_block* scratch = nullptr;  // linked by `next`
  detail::subplan_frame* opened = nullptr;

  runner::impl& impl() const { return *static_cast<runner::impl*>(runner()); }
};

/// The stop_pace of one lane. Each is in a separate cache line, because several threads write them at once.
struct alignas(64) lane_pace {
  detail::stop_pace pace;
};

struct runner::impl {
  impl(const plan_view& p, std::span<const memory_source> s, arena& t, std::size_t limit_bytes)
      : plan{p}, sources{s}, tables{t}, limit{limit_bytes} {}

  const plan_view& plan;
  std::span<const memory_source> sources;
  arena& tables;
  std::size_t limit;
  std::span<run_memory*> memories;  // per kind
  frame main;
  std::span<value> bound;  // per output: the caller's memory in this run, or none
  const run_options* options = nullptr;
  std::atomic<status_code> ended{status_code::ok};  // why the run should end early
  lane_pace paces[target_tier ? 1 : 32];            // of the first lanes; others read the clock each time
  bool dirty = false;                               // a run ended early, or a fixed value did not keep its shape
  bool checks_outputs = !target_tier;               // until a run has succeeded
  std::atomic_flag tables_in_use = ATOMIC_FLAG_INIT;
  bool shared = false;                         // several steps run in parallel
  shape_plans* plans = nullptr;                // only for a plan with shapes that are known in a run, run in order
  const shape_plans::entry* active = nullptr;  // the plan that this or the last run uses
  detail::storage_block* active_block = nullptr;
  detail::storage_block* texts = nullptr;  // characters of strings, linked by `next`; filled from the front
  std::size_t text_used = 0;
  std::size_t lanes = 0;    // of the run's pool
  std::size_t refused = 0;  // bytes of the last failed request, for error messages

  std::atomic_flag* lock() { return !target_tier && shared ? &tables_in_use : nullptr; }

  /// Runs tasks on all threads of the run's pool, with the run's mode for denormal floats. What a task throws is thrown
  /// again here, so that runs on one and on many threads end alike. The pool may be the user's; tasks with invalid
  /// indices or lanes are not run.
  void parallel(std::size_t count, task f);
  status prepare();
  status work();  // run() between the pool's begin_run() and end_run()
  status run();
  status run_steps(frame&, step_context&);
  status run_levels(frame&);
  status run_step(const plan_step&, frame&, step_context&);
  status require_outputs(const plan_step&, frame&) const;
  void start_over();
  void begin(std::span<const value> inputs, std::span<value> outputs);
  void choose_shape_plan(std::span<const value> inputs);
  void leave_shape_plan();
  void place_by_plan(slot);
  bool placed(slot s) const { return !target_tier && active && active->covers(s); }
  void learn_shapes();
  bool scattered() const;
  status finish(std::span<value> outputs);
  status settle(std::span<value> outputs);
  result<value> relocate(const value&);

  detail::storage_block* take(std::uint8_t kind, std::size_t bytes);
  /// Copies a tensor's elements to memory of a kind; between two devices through host memory. Errors of the hooks;
  /// OUT_OF_MEMORY.
  status copy(const value& from, void* to, std::uint8_t kind);
  char* take_text(std::size_t bytes);
  void drop(detail::storage_block*, std::uint8_t kind);  // removes one reference
  void reset(frame&, slot);
  void end_step(step_context&);
  /// True if the run should end. Then it stays true until the next run, because results are incomplete.
  bool stopped(detail::stop_pace*);
  bool has_stopped() const { return ended.load(std::memory_order_relaxed) != status_code::ok; }
  status stop_status() const;
};

extern const detail::run_services services;

}  // namespace CAMEO_NAMESPACE
