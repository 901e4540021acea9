// Measures the cost of shapes that change in each run: a decoder whose key/value cache grows from step to step,
// compared with the same decoder that runs repeatedly with a cache of average size. Both do the same arithmetic on
// average, so the difference is the cost of new shapes. The results of both are compared before timing.
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

#include <benchmark/benchmark.h>

#include <array>
#include <cstring>

namespace {

constexpr int steps = 1000;
constexpr const char* caches[] = {"past_key_0", "past_value_0", "past_key_1", "past_value_1"};

struct decoder {
  cameo::result<cameo::session> session = [] {
    cameo::session_options options;
    options.threads = 1;
    return cameo::runtime<cameo::eps::cpu>{}.load(CAMEO_SOURCE_DIR "/tests/data/decoder.onnx", options);
  }();
  std::array<cameo::result<cameo::io_binding>, 2> bindings{session->bind(), session->bind()};
  std::int64_t token = 3;
  float nothing = 0;

  bool step(int i) {
    cameo::io_binding& now = *bindings[std::size_t(i % 2)];
    const cameo::io_binding& before = *bindings[std::size_t((i + 1) % 2)];
    bool fine = bool(now.bind_input("input_ids", cameo::value::tensor(cameo::dtype::i64, {1, 1}, &token)));
    for (std::size_t k = 0; k < 4; ++k)
      fine = fine &&
             bool(now.bind_input(caches[k], i == 0 ? cameo::value::tensor(cameo::dtype::f32, {1, 4, 0, 16}, &nothing)
                                                   : before.output(k + 1)));
    return fine && bool(session->run(now));
  }
};

void growing(benchmark::State& state) {
  decoder d;
  for (int i = 0; i < steps; ++i)
    if (!d.step(i)) return state.SkipWithError("a step failed");
  for (auto _ : state)
    for (int i = 0; i < steps; ++i) benchmark::DoNotOptimize(d.step(i));
  state.counters["per_step"] =
      benchmark::Counter(steps, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// Runs 1,000 times with a cache of half the final length, which is the average length of the growing cache.
void fixed(benchmark::State& state) {
  decoder d;
  const int at = steps / 2;
  for (int i = 0; i <= at; ++i)
    if (!d.step(i)) return state.SkipWithError("a step failed");
  cameo::io_binding& last = *d.bindings[std::size_t(at % 2)];
  std::array<float, 64> want{};
  std::memcpy(want.data(), last.output(0).data, sizeof want);
  if (!d.session->run(last) || std::memcmp(want.data(), last.output(0).data, sizeof want))
    return state.SkipWithError("wrong answer, not timed");
  for (auto _ : state)
    for (int i = 0; i < steps; ++i) benchmark::DoNotOptimize(bool(d.session->run(last)));
  state.counters["per_step"] =
      benchmark::Counter(steps, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

}  // namespace

BENCHMARK(growing)->Unit(benchmark::kMillisecond);
BENCHMARK(fixed)->Unit(benchmark::kMillisecond);
