#include <cameo/session/threads.hpp>

#include "full_speed.hpp"
#include "processor_time.hpp"
#include "session/models.hpp"

#include <doctest/doctest.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

using namespace cameo;
using namespace cameo::test;

namespace {

std::vector<float> run_with(const session_options& options, std::int64_t rows) {
  const result<session> s = cpu_runtime{}.load(four_branches(), options);
  REQUIRE_MESSAGE(s, std::string{s.error().words()});
  const any_value x = any_value::tensor({rows, 64}, ramp(std::size_t(rows) * 64));
  const result<named_values> out = s->run({{"x", x}});
  REQUIRE_MESSAGE(out, std::string{out.error().words()});
  return floats_of((*out)[0].value);
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// A user's simple pool, which starts a thread for each lane in each call.
struct plain_pool {
  std::size_t lanes = 3;
  std::atomic<int> calls{0};
  std::size_t concurrency() const { return lanes; }
  void parallel(std::size_t count, task f) {
    ++calls;
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> threads;
    for (std::size_t lane = 0; lane < lanes; ++lane)
      threads.emplace_back([&, lane] {
        for (std::size_t i = next++; i < count; i = next++) f(i, lane);
      });
    for (std::thread& t : threads) t.join();
  }
};
static_assert(task_pool<plain_pool> && !scoped_task_pool<plain_pool>);

double process_seconds() { return processor_seconds(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace

TEST_CASE("1, 2 and 5 threads give the same bits, in order and by level") {
  session_options options;
  options.threads = 1;
  const std::vector<float> one = run_with(options, 300);
  for (execution_mode mode : {execution_mode::sequential, execution_mode::parallel})
    for (std::size_t threads : {1, 2, 5}) {
      options.threads = threads;
      options.execution = mode;
      CHECK(same_bits(one, run_with(options, 300)));
    }
}

TEST_CASE("threads of the user's pool do the work and give the same bits") {
  session_options options;
  options.threads = 1;
  const std::vector<float> one = run_with(options, 300);
  plain_pool pool;
  CHECK(same_bits(one, run_with(session_options{}.use(pool), 300)));
  CHECK(pool.calls > 0);
}

TEST_CASE("many threads run one session at once, each with different shapes") {
  for (execution_mode mode : {execution_mode::sequential, execution_mode::parallel}) {
    session_options options;
    options.threads = 2;
    options.execution = mode;
    const result<session> s = cpu_runtime{}.load(four_branches(), options);
    REQUIRE(s);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (std::int64_t t = 0; t < 6; ++t)
      threads.emplace_back([&, t] {
        const std::int64_t rows = 5 + 13 * t;
        const any_value x = any_value::tensor({rows, 64}, ramp(std::size_t(rows) * 64));
        std::vector<float> first;
        for (int i = 0; i < 8; ++i) {
          const result<named_values> out = s->run({{"x", x}});
          if (!out) ++wrong;
          else if (first.empty()) first = floats_of((*out)[0].value);
          else if (!same_bits(first, floats_of((*out)[0].value))) ++wrong;
        }
      });
    for (std::thread& t : threads) t.join();
    CHECK(wrong == 0);
  }
}

TEST_CASE("a pool calls every index once for any calling thread, and lanes never overlap") {
  result<std::unique_ptr<thread_pool>> pool = thread_pool::make(4);
  REQUIRE(pool);
  (*pool)->begin_run();
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 3; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        std::vector<std::atomic<int>> seen(57);
        std::array<std::atomic<int>, 4> inside{};
        const auto body = [&](std::size_t i, std::size_t lane) {
          if (inside[lane].fetch_add(1) != 0) ++wrong;
          ++seen[i];
          inside[lane].fetch_sub(1);
        };
        (*pool)->parallel(seen.size(), body);
        for (const std::atomic<int>& n : seen)
          if (n != 1) ++wrong;
      }
    });
  for (std::thread& t : callers) t.join();
  (*pool)->end_run();
  CHECK(wrong == 0);
}

TEST_CASE("between runs threads sleep: 50 runs a second use little of a processor") {
  session_options options;
  options.threads = 4;
  const result<session> s = cpu_runtime{}.load(four_branches(), options);
  REQUIRE(s);
  const any_value x = any_value::tensor({2, 64}, ramp(128));
  const auto run_some = [&](int runs, std::chrono::milliseconds pause) {
    const double before = process_seconds();
    for (int i = 0; i < runs; ++i) {
      REQUIRE(s->run({{"x", x}}));
      std::this_thread::sleep_for(pause);
    }
    return process_seconds() - before;
  };
  run_some(5, std::chrono::milliseconds{1});
  const double busy = run_some(50, std::chrono::milliseconds{0}), calm = run_some(50, std::chrono::milliseconds{20});
  MESSAGE("50 runs back to back ", busy * 1e3, " ms of processor, at 50 Hz ", calm * 1e3, " ms in a second");
  // Processor time, not wall time: the pauses, a second in all, may add 3 % of a processor to the time of the runs.
  // Threads that spin during the pauses would add three seconds.
  if (full_speed) CHECK(calm - busy < 0.03);
}

TEST_CASE("a cpuset limits the number of threads") {
  std::size_t seen = 0;
  std::thread{[&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(std::size_t(sched_getcpu()), &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    seen = available_threads();
  }}.join();
  CHECK(seen == 1);
  CHECK(available_threads() >= 1);
}

TEST_CASE("a session whose threads the system does not start has fewer, a warning and the same bits") {
  session_options options;
  options.threads = 1;
  const std::vector<float> one = run_with(options, 300);
  pthread_attr_t before, too_large;
  REQUIRE(pthread_getattr_default_np(&before) == 0);
  REQUIRE(pthread_attr_init(&too_large) == 0);
  REQUIRE(pthread_attr_setstacksize(&too_large, std::size_t{1} << 46) == 0);  // more than any address space
  std::string said;
  options.threads = 4;
  options.log_from = log_level::warning;
  options.log = [&](log_level, std::string_view words) { said = words; };
  REQUIRE(pthread_setattr_default_np(&too_large) == 0);
  const result<session> s = cpu_runtime{}.load(four_branches(), options);
  const result<std::unique_ptr<thread_pool>> pool = thread_pool::make(3);
  REQUIRE(pthread_setattr_default_np(&before) == 0);
  REQUIRE(s);
  REQUIRE(pool);
  CHECK((*pool)->concurrency() == 1);
  CHECK(s->thread_count() == 1);
  CHECK(said.starts_with("the system started 1 of 4 threads"));
  const any_value x = any_value::tensor({300, 64}, ramp(300 * 64));
  const result<named_values> out = s->run({{"x", x}});
  REQUIRE(out);
  CHECK(same_bits(one, floats_of((*out)[0].value)));
}
