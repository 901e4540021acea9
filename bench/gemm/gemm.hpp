#pragma once
#include "one_node.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>

namespace bench {

/// C [m, n] = A [m, k] * B [k, n]. B is constant, so that an implementation may rearrange it before timing starts.
struct gemm_case {
  std::int64_t m, n, k;
  numbers a = random_numbers(std::size_t(m * k), 1), b = random_numbers(std::size_t(k * n), 2);
};

inline numbers reference_gemm(const gemm_case& given) {
  numbers c(std::size_t(given.m * given.n));
  std::vector<double> row(std::size_t(given.n));
  for (std::int64_t i = 0; i < given.m; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    for (std::int64_t p = 0; p < given.k; ++p)
      for (std::int64_t j = 0; j < given.n; ++j)
        row[std::size_t(j)] += double(given.a[std::size_t(i * given.k + p)]) * given.b[std::size_t(p * given.n + j)];
    for (std::int64_t j = 0; j < given.n; ++j) c[std::size_t(i * given.n + j)] = float(row[std::size_t(j)]);
  }
  return c;
}

/// Times an implementation: a class that is constructed from a case and has run(c). A wrong result is an error.
template <class Contender>
void gemm(benchmark::State& state) {
  const gemm_case given{state.range(0), state.range(1), state.range(2)};
  Contender contender{given};
  numbers c(std::size_t(given.m * given.n));
  contender.run(c);
  if (!agrees(c, reference_gemm(given), std::size_t(given.k))) return state.SkipWithError("wrong answer, not timed");
  for (auto _ : state) contender.run(c), benchmark::DoNotOptimize(c.data());
  state.counters["flops"] =
      benchmark::Counter(2.0 * double(given.m * given.n * given.k), benchmark::Counter::kIsIterationInvariantRate);
}

/// Layers of small transformers with 128 tokens and with one token, and a large square product.
inline void gemm_cases(benchmark::internal::Benchmark* b) {
  b->ArgNames({"m", "n", "k"})->Unit(benchmark::kMicrosecond);
  for (const auto& [n, k] : {std::pair{384, 384}, {1536, 384}, {384, 1536}}) b->Args({128, n, k});
  for (const auto& [n, k] : {std::pair{2304, 768}, {768, 3072}}) b->Args({1, n, k});
  b->Args({512, 512, 512});
}

}  // namespace bench
