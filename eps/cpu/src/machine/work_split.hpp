#pragma once
#include <cameo/kernel/run_context.hpp>

#include <cstdint>

namespace CAMEO_NAMESPACE::eps {

/// One axis of work to split. Its units stay whole: rows of tiles, panels, rows of an image.
struct split_axis {
  std::int64_t units = 1;
  std::int64_t most = units;  // the most units of a task, so that their operands stay in a cache
  std::int64_t enough = 1;    // a task keeps at least this number of units while the other axis can be split
  std::int64_t least = 1;     // a task keeps at least this number of units in any case
};

/// Work over all units of two axes. Results must not depend on how it is split, since the number of workers decides
/// that. The tasks of a block of `outer` are consecutive, so that a worker prepares once what they share.
struct work_size {
  split_axis outer = {}, inner = {};
  std::int64_t repeats = 1;         // the number of times that the work is done, such as products of the same size
  double cost = 0;                  // the number of operations in all
  double least_cost = 1 << 20;      // the number of operations that pays for another worker
  double tasks_per_worker = 4;      // more than 1, as a worker may start late
  bool splits_inner_first = false;  // else `outer` is split first, until a task has `enough` units of it
};

/// A task: a range of units of both axes, of one repetition.
struct work_task {
  std::int64_t
      block;  // the index of the block of `outer` among all repetitions; tasks that share a block have one index
  std::int64_t repeat, outer, outer_count, inner, inner_count;
};

/// Splits work into tasks that are as equal as whole units allow.
class work_split {
 public:
  work_split(const work_size&, std::size_t workers);

  std::int64_t tasks() const { return blocks_ * inner_blocks_; }
  /// True if the units allow fewer tasks than the cost of the work would pay for.
  bool is_short() const { return is_short_; }
  /// The number of tasks that a worker does in one call; small tasks are not worth a call each.
  std::int64_t tasks_per_call() const { return tasks_per_call_; }
  /// The largest numbers of outer and of inner units of a task.
  std::int64_t most_outer() const { return (outer_ + outer_blocks_ - 1) / outer_blocks_; }
  std::int64_t most_inner() const { return (inner_ + inner_blocks_ - 1) / inner_blocks_; }

  work_task operator[](std::int64_t i) const {
    const std::int64_t block = i / inner_blocks_, at = i % inner_blocks_, o = block % outer_blocks_;
    const std::int64_t outer = outer_ * o / outer_blocks_, inner = inner_ * at / inner_blocks_;
    return {block, block / outer_blocks_,
            outer, outer_ * (o + 1) / outer_blocks_ - outer,
            inner, inner_ * (at + 1) / inner_blocks_ - inner};
  }

 private:
  std::int64_t outer_, inner_;                // the units of each axis
  std::int64_t outer_blocks_, inner_blocks_;  // the blocks of each axis
  std::int64_t blocks_;                       // the blocks of `outer` in all repetitions
  std::int64_t tasks_per_call_;
  bool is_short_;
};

/// Calls f(task, worker) for all tasks. Returns false if the run is to be stopped and tasks were left out.
template <class F>
bool for_each_task(run_context& c, const work_split& split, const F& f) {
#ifndef CAMEO_CODE_ONLY  // inlines f a second time, which saves a single task the request for workers
  if (split.tasks() == 1) return f(split[0], std::size_t{0}), true;
#endif
  return parallel_each(c, split.tasks(), split.tasks_per_call(),
                       [&](std::int64_t i, std::size_t worker) { f(split[i], worker); });
}

}  // namespace CAMEO_NAMESPACE::eps
