#pragma once
#include "one_node.hpp"

#include <benchmark/benchmark.h>

namespace bench {

/// LayerNormalization of each row: mean 0 and variance 1, then a scale and a bias for each column.
struct layer_norm_case {
  std::int64_t rows, columns;
  numbers x = random_numbers(std::size_t(rows * columns), 1), scale = random_numbers(std::size_t(columns), 2),
          bias = random_numbers(std::size_t(columns), 3);
};

template <class T>
void normalize_rows(const layer_norm_case& c, numbers& y) {
  for (std::int64_t i = 0; i < c.rows; ++i) {
    const float* const x = c.x.data() + i * c.columns;
    float* const to = y.data() + i * c.columns;
    T mean = 0, variance = 0;
    for (std::int64_t j = 0; j < c.columns; ++j) mean += T(x[j]);
    mean /= T(c.columns);
    for (std::int64_t j = 0; j < c.columns; ++j) variance += (T(x[j]) - mean) * (T(x[j]) - mean);
    const T factor = 1 / std::sqrt(variance / T(c.columns) + T(1e-5));
    for (std::int64_t j = 0; j < c.columns; ++j)
      to[j] = float((T(x[j]) - mean) * factor * T(c.scale[std::size_t(j)]) + T(c.bias[std::size_t(j)]));
  }
}

/// Times an implementation: a class that is constructed from a case and has run(y). A wrong result is an error.
template <class Contender>
void layer_norm(benchmark::State& state) {
  const layer_norm_case given{state.range(0), state.range(1)};
  Contender contender{given};
  numbers y(given.x.size()), want(y.size());
  normalize_rows<double>(given, want);
  contender.run(y);
  if (!agrees(y, want, std::size_t(given.columns))) return state.SkipWithError("wrong answer, not timed");
  for (auto _ : state) contender.run(y), benchmark::DoNotOptimize(y.data());
  state.SetBytesProcessed(state.iterations() * std::int64_t(2 * y.size() * sizeof(float)));  // read x, write y
}

/// Layers of small transformers with 128 tokens and with one token.
inline void layer_norm_cases(benchmark::internal::Benchmark* b) {
  b->ArgNames({"rows", "columns"})->Unit(benchmark::kMicrosecond);
  b->Args({128, 384})->Args({128, 768})->Args({1, 768});
}

}  // namespace bench
