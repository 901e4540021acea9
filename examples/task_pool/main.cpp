// Threads of one's own: a program that has a pool already lends it to cameo, which then starts none. A pool is a type
// with concurrency() and parallel(count, f); this one is as simple as they come.
//
//     3 threads of our own did 26 pieces of 52
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

/// Threads that wait for a job and take its pieces one by one, with the caller. Thread-safe: one job at a time, and who
/// finds the pool busy does his work by himself.
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
    take_pieces(f, 0);
    std::unique_lock hold{mutex_};
    done_.wait(hold, [&] { return working_ == 0; });
  }
  /// Pieces that the threads have done, and all.
  std::size_t pieces() const { return by_threads_; }
  std::size_t all_pieces() const { return by_threads_ + by_callers_; }

 private:
  void take_pieces(cameo::task f, std::size_t lane) {
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
      take_pieces(f, lane);
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
  std::vector<std::jthread> threads_;  // last: joined while the rest is still there
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
  // A thread that wakes late finds nothing to do; run until each side has had its part.
  for (int more = 0; more < 1000 && own.pieces() == 0; ++more)
    if (auto again = session->run({{"a", a}}); !again) return cameo::report(again.error());
  std::printf("%zu threads of our own did %zu pieces of %zu\n", own.concurrency() - 1, own.pieces(), own.all_pieces());

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
  return own.pieces() > 0 && largest < 1e-4 ? 0 : 1;
}
