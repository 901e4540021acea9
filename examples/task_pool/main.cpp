// A thread pool of the program: cameo runs its tasks on the pool and does not start threads. A pool is a type with
// concurrency() and parallel(count, f).
//
//     3 threads of the program did 26 of 52 tasks
//     largest error: 1.3e-06
#include "../build_model.hpp"

#include <cameo/eps/cpu.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

namespace {

/// A simple thread pool. Its threads and the caller take the tasks of a job one by one. Thread-safe: the pool runs one
/// job at a time, and a caller that finds the pool busy runs all of its tasks on its thread.
class team {
 public:
  explicit team(std::size_t threads) {
    for (std::size_t lane = 1; lane <= threads; ++lane) threads_.emplace_back([this, lane] { work(lane); });
  }
  team(const team&) = delete;
  team& operator=(const team&) = delete;
  ~team() {
    {
      const std::lock_guard hold{mutex_};
      ended_ = true;
    }
    news_.notify_all();
  }

  std::size_t concurrency() const { return threads_.size() + 1; }
  void parallel(std::size_t count, cameo::task f) {
    const std::unique_lock mine{one_job_, std::try_to_lock};
    if (!mine) {
      for (std::size_t i = 0; i < count; ++i) f(i, 0);
      return;
    }
    {
      const std::lock_guard hold{mutex_};
      job_ = &f, count_ = count, next_ = 0, working_ = threads_.size(), ++number_;
    }
    news_.notify_all();
    take_tasks(f, 0);
    std::unique_lock hold{mutex_};
    done_.wait(hold, [&] { return working_ == 0; });
  }
  /// The number of tasks that ran on threads of the pool.
  std::size_t pool_tasks() const { return by_threads_; }
  std::size_t all_tasks() const { return by_threads_ + by_callers_; }

 private:
  void take_tasks(cameo::task f, std::size_t lane) {
    for (std::size_t i; (i = next_++) < count_;) {
      f(i, lane);
      ++(lane ? by_threads_ : by_callers_);
    }
  }
  void work(std::size_t lane) {
    std::size_t seen = 0;
    for (std::unique_lock hold{mutex_};;) {
      news_.wait(hold, [&] { return ended_ || number_ != seen; });
      if (ended_) return;
      seen = number_;
      const cameo::task f = *job_;
      hold.unlock();
      take_tasks(f, lane);
      hold.lock();
      if (--working_ == 0) done_.notify_one();
    }
  }

  std::mutex one_job_, mutex_;
  std::condition_variable news_, done_;
  bool ended_ = false;
  const cameo::task* job_ = nullptr;
  std::size_t count_ = 0, working_ = 0, number_ = 0;
  std::atomic<std::size_t> next_{0}, by_threads_{0}, by_callers_{0};
  std::vector<std::jthread> threads_;  // last member: threads are joined before the other members are destroyed
};
static_assert(cameo::task_pool<team>);

constexpr std::int64_t rows = 300, inner = 200, columns = 250;

float element(std::int64_t i) { return float(i * 7919 % 2003) / 2003 - 0.5f; }

}  // namespace

int main() {
  std::vector<float> a(rows * inner), b(inner * columns);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = element(std::int64_t(i));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = element(std::int64_t(i) + 5);
  examples::model_builder net;
  net.input("a", cameo::dtype::f32, {-1, inner}).constant<float>("b", {inner, columns}, b);
  net.node("MatMul", {"a", "b"}, "product").output("product");

  team own{3};  // outlives the session
  auto session = cameo::runtime<cameo::eps::cpu>{}.load(net.finish(), cameo::session_options{}.use(own));
  if (!session) return cameo::report(session.error());
  auto outputs = session->run({{"a", a}});
  if (!outputs) return cameo::report(outputs.error());
  // A thread that wakes late may find no task left, so runs are repeated until the pool has run a task.
  for (int more = 0; more < 1000 && own.pool_tasks() == 0; ++more)
    if (auto again = session->run({{"a", a}}); !again) return cameo::report(again.error());
  std::printf("%zu threads of the program did %zu of %zu tasks\n", own.concurrency() - 1, own.pool_tasks(),
              own.all_tasks());

  const auto product = outputs->get<float>("product");
  if (!product) return cameo::report(product.error());
  double largest = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < inner; ++k)
        sum += double(a[std::size_t(i * inner + k)]) * double(b[std::size_t(k * columns + j)]);
      largest = std::max(largest, std::abs(sum - double((*product)[i * columns + j])));
    }
  std::printf("largest error: %.1e\n", largest);
  return own.pool_tasks() > 0 && largest < 1e-4 ? 0 : 1;
}
