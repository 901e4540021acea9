#pragma once
#include <cameo/core/function_ref.hpp>

#include <concepts>
#include <cstddef>

namespace CAMEO_NAMESPACE {

/// The body of a parallel loop. A pool calls it once for each index, with the lane of the calling thread: a number
/// below concurrency() that no two threads have at the same time, so that it can select scratch memory.
using task = detail::function_ref<void(std::size_t index, std::size_t lane)>;

/// A user's thread pool. `concurrency()` is the number of lanes. `parallel(n, f)` calls f(i, lane) once for each i
/// below n, on any threads, and returns when all calls are done. Several threads may call it at the same time. `f` does
/// not throw.
template <class P>
concept task_pool = requires(P& pool, std::size_t count, task f) {
  { pool.concurrency() } -> std::convertible_to<std::size_t>;
  pool.parallel(count, f);
};
/// A pool with functions for the beginning and the end of a run, which wake its threads once and let them sleep.
template <class P>
concept scoped_task_pool = task_pool<P> && requires(P& pool) {
  pool.begin_run();
  pool.end_run();
};

namespace detail {
/// A pool with its type erased: two pointers, no allocation. The pool outlives it.
class task_pool_ref {
 public:
  task_pool_ref() = default;
  template <task_pool P>
  task_pool_ref(P& pool) : self_{&pool}, row_{&row_of_pool<P>} {}

  explicit operator bool() const { return row_ != nullptr; }
  std::size_t concurrency() const { return row_ ? row_->concurrency(self_) : 1; }
  /// Runs the loop on the pool, as task_pool describes; without a pool, on the calling thread.
  void parallel(std::size_t count, task f) const {
    if (row_) return row_->parallel(self_, count, f);
    for (std::size_t i = 0; i < count; ++i) f(i, 0);
  }
  /// Calls the pool's begin_run(), if it has one.
  void begin_run() const {
    if (row_) row_->begin_run(self_);
  }
  /// Calls the pool's end_run(), if it has one.
  void end_run() const {
    if (row_) row_->end_run(self_);
  }

 private:
  struct row {
    std::size_t (*concurrency)(void*);
    void (*parallel)(void*, std::size_t, task);
    void (*begin_run)(void*);
    void (*end_run)(void*);
  };
  template <class P>
  static constexpr row row_of_pool{
      [](void* self) { return std::size_t(static_cast<P*>(self)->concurrency()); },
      [](void* self, std::size_t count, task f) { static_cast<P*>(self)->parallel(count, f); },
      [](void* self) {
        if constexpr (scoped_task_pool<P>) static_cast<P*>(self)->begin_run();
        else static_cast<void>(self);
      },
      [](void* self) {
        if constexpr (scoped_task_pool<P>) static_cast<P*>(self)->end_run();
        else static_cast<void>(self);
      }};

  void* self_ = nullptr;
  const row* row_ = nullptr;
};
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
