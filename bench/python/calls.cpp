// Measures calls from C++; bench/python/calls.py compares them with calls from Python.
//   bench_python MODEL COUNT               prints the nanoseconds of a run with a binding, and of a run that copies
//   bench_python MODEL SECONDS threads N   prints the runs per second of N threads together, each with a binding
// The model has one input, x, of float32 with a fixed shape.
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using seconds = std::chrono::duration<double>;

std::vector<float> elements_of(const cameo::session& session) {
  std::size_t count = 1;
  const auto dims = session.inputs()[0].dims();
  for (const std::int64_t d : *dims) count *= std::size_t(d);
  return std::vector<float>(count, 0.5f);
}

template <class Call>
double nanoseconds(std::size_t count, Call&& call) {
  for (std::size_t i = 0; i < 100; ++i) call();
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < count; ++i) call();
  return seconds(std::chrono::steady_clock::now() - begin).count() * 1e9 / double(count);
}

int fails(const cameo::status& s) { return cameo::report(s); }

int measure_calls(const cameo::session& session, std::size_t count) {
  const std::vector<float> x = elements_of(session);
  auto binding = session.bind();
  if (!binding) return fails(binding.error());
  if (cameo::status s = binding->bind_input("x", x); !s) return fails(s);
  bool fine = true;
  const double bound = nanoseconds(count, [&] { fine = bool(session.run(*binding)) && fine; });
  const double copied = nanoseconds(count, [&] { fine = bool(session.run({{"x", x}})) && fine; });
  std::printf("%.1f %.1f\n", bound, copied);
  return fine ? 0 : 1;
}

int measure_threads(const cameo::session& session, double length, std::size_t count) {
  const std::vector<float> x = elements_of(session);
  std::atomic<std::size_t> runs{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i)
    threads.emplace_back([&] {
      auto binding = session.bind();
      if (!binding || !binding->bind_input("x", x)) return;
      while (!done)
        if (session.run(*binding)) ++runs;
    });
  std::this_thread::sleep_for(seconds(length));
  done = true;
  for (std::thread& each : threads) each.join();
  std::printf("%.1f\n", double(runs) / length);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  cameo::session_options options;
  options.threads = 1;
  const auto session = cameo::runtime<cameo::eps::cpu>{}.load(arguments[1], options);
  if (!session) return fails(session.error());
  if (count == 5 && std::string_view{arguments[3]} == "threads")
    return measure_threads(*session, std::atof(arguments[2]), std::size_t(std::atoi(arguments[4])));
  return measure_calls(*session, std::size_t(std::atoi(arguments[2])));
}
