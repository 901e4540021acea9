#pragma once
// Measures the highest rate of a computation on several threads at once.
#include <cameo/core/abi.hpp>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <thread>
#include <vector>

namespace CAMEO_NAMESPACE::eps {

/// Runs `body(thread)` on all threads at once, round after round, and returns the highest `amount` per second of any
/// round. A round lasts from the common start to the end of the last thread.
template <class F>
double best_rate(std::size_t threads, double seconds, double amount, const F& body) {
  using clock = std::chrono::steady_clock;
  std::atomic<bool> done{false};
  double best = 0;
  clock::time_point start = clock::now();
  const clock::time_point end =
      start + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
  bool first = true;  // the first crossing of the barrier only synchronizes the threads
  std::barrier crossing{std::ptrdiff_t(threads), [&]() noexcept {
                          const clock::time_point now = clock::now();
                          if (!first)
                            best = std::max(best, amount / std::chrono::duration<double>(now - start).count());
                          first = false;
                          done = now >= end && best > 0;
                          start = now;
                        }};
  const auto work = [&](std::size_t thread) {
    for (crossing.arrive_and_wait(); !done; crossing.arrive_and_wait()) body(thread);
  };
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads; ++t) others.emplace_back(work, t);
  work(0);
  for (std::thread& each : others) each.join();
  return best;
}

}  // namespace CAMEO_NAMESPACE::eps
