#include <cameo/session/threads.hpp>

#include "core/guarded.hpp"
#include "os/processors.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace CAMEO_NAMESPACE {
namespace {

void pause_a_little() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

std::size_t available_threads() { return os::available_processors(); }

/// Runs one job at a time. A worker that finds the job open increments `inside`, takes indices until there are none,
/// and decrements `inside`. The caller takes indices, too, closes the job and waits until `inside` is 0.
struct thread_pool::impl {
  static constexpr auto longest_spin = std::chrono::microseconds{50};

  std::vector<std::thread> workers;
  bool spin = true;
  const task* job = nullptr;
  std::size_t count = 0;
  alignas(64) std::atomic<std::size_t> next{0};
  alignas(64) std::atomic<std::uint32_t> epoch{0};  // the number of jobs so far; workers wait for a change
  std::atomic<bool> open{false}, ending{false};
  std::atomic<std::uint32_t> sleepers{0};
  std::atomic<std::int32_t> runs{0};
  alignas(64) std::atomic<std::uint32_t> inside{0};
  std::atomic_flag busy = ATOMIC_FLAG_INIT;

  void work(std::size_t lane) {
    for (std::size_t i = next.fetch_add(1, std::memory_order_relaxed); i < count;
         i = next.fetch_add(1, std::memory_order_relaxed))
      (*job)(i, lane);
  }

  void worker(std::size_t lane) {
    std::uint32_t seen = 0;
    while (!ending.load(std::memory_order_acquire)) {
      const std::uint32_t now = wait_for_another(seen);
      if (now == seen) continue;
      seen = now;
      inside.fetch_add(1, std::memory_order_seq_cst);
      if (open.load(std::memory_order_seq_cst)) work(lane);
      inside.fetch_sub(1, std::memory_order_release);
    }
  }

  /// Waits for a new job: during a run, by spinning for a while, then asleep.
  std::uint32_t wait_for_another(std::uint32_t seen) {
    if (spin && runs.load(std::memory_order_relaxed) > 0) {
      const auto give_up = std::chrono::steady_clock::now() + longest_spin;
      do {
        for (int i = 0; i < 64; ++i) {
          if (const std::uint32_t now = epoch.load(std::memory_order_acquire); now != seen) return now;
          pause_a_little();
        }
      } while (runs.load(std::memory_order_relaxed) > 0 && std::chrono::steady_clock::now() < give_up);
    }
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    epoch.wait(seen, std::memory_order_seq_cst);
    sleepers.fetch_sub(1, std::memory_order_relaxed);
    return epoch.load(std::memory_order_acquire);
  }

  void announce() {
    epoch.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers.load(std::memory_order_seq_cst)) epoch.notify_all();
  }

  void parallel(std::size_t n, const task& f) {
    if (workers.empty() || n <= 1 || busy.test_and_set(std::memory_order_acquire)) {
      for (std::size_t i = 0; i < n; ++i) f(i, 0);
      return;
    }
    job = &f, count = n;
    next.store(0, std::memory_order_relaxed);
    open.store(true, std::memory_order_seq_cst);
    announce();
    work(0);
    open.store(false, std::memory_order_seq_cst);
    // At most one index per worker is unfinished, so the caller spins first and then yields.
    for (int spins = 0; inside.load(std::memory_order_seq_cst) != 0; ++spins)
      spins < 2000 ? pause_a_little() : std::this_thread::yield();
    busy.clear(std::memory_order_release);
  }
};

thread_pool::thread_pool(std::unique_ptr<impl> self) : impl_{std::move(self)} {}

result<std::unique_ptr<thread_pool>> thread_pool::make(std::size_t threads, bool spin) {
  return guarded([&]() -> result<std::unique_ptr<thread_pool>> {
    std::unique_ptr<thread_pool> pool{new thread_pool{std::make_unique<impl>()}};
    pool->impl_->spin = spin;
    pool->impl_->workers.reserve(threads);
    const auto start_one = [&, self = pool->impl_.get()](std::size_t lane) {
      self->workers.emplace_back([self, lane] { self->worker(lane); });
      return status{};
    };
    for (std::size_t lane = 1; lane < threads; ++lane)
      if (!guarded([&] { return start_one(lane); })) break;  // the threads that were started can do all the work
    return pool;
  });
}

thread_pool::~thread_pool() {
  impl_->ending.store(true, std::memory_order_release);
  impl_->epoch.fetch_add(1, std::memory_order_seq_cst);
  impl_->epoch.notify_all();
  for (std::thread& worker : impl_->workers) worker.join();
}

std::size_t thread_pool::concurrency() const { return impl_->workers.size() + 1; }
void thread_pool::parallel(std::size_t count, task f) { impl_->parallel(count, f); }
void thread_pool::begin_run() { impl_->runs.fetch_add(1, std::memory_order_relaxed); }
void thread_pool::end_run() { impl_->runs.fetch_sub(1, std::memory_order_relaxed); }

}  // namespace CAMEO_NAMESPACE
