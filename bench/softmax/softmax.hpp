#pragma once
#include "one_node.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>

namespace bench {

/// Softmax of each row.
struct softmax_case {
  std::int64_t rows, columns;
  numbers x = random_numbers(std::size_t(rows * columns), 1);
};

template <class T>
void softmax_rows(const softmax_case& c, numbers& y) {
  for (std::int64_t i = 0; i < c.rows; ++i) {
    const float* const x = c.x.data() + i * c.columns;
    float* const to = y.data() + i * c.columns;
    const T most = T(*std::max_element(x, x + c.columns));
    T sum = 0;
    for (std::int64_t j = 0; j < c.columns; ++j) {
      const T e = std::exp(T(x[j]) - most);
      to[j] = float(e), sum += e;
    }
    for (std::int64_t j = 0; j < c.columns; ++j) to[j] = float(T(to[j]) / sum);
  }
}

/// Times an implementation: a class that is constructed from a case and has run(y). A wrong result is an error.
template <class Contender>
void softmax(benchmark::State& state) {
  const softmax_case given{state.range(0), state.range(1)};
  Contender contender{given};
  numbers y(given.x.size()), want(y.size());
  softmax_rows<double>(given, want);
  contender.run(y);
  if (!agrees(y, want, 1)) return state.SkipWithError("wrong answer, not timed");
  for (auto _ : state) contender.run(y), benchmark::DoNotOptimize(y.data());
  state.SetBytesProcessed(state.iterations() * std::int64_t(2 * y.size() * sizeof(float)));  // read x, write y
}

/// The scores of attention (12 heads, 128 by 128 tokens), and the outputs of a classifier and of a language model.
inline void softmax_cases(benchmark::internal::Benchmark* b) {
  b->ArgNames({"rows", "columns"})->Unit(benchmark::kMicrosecond);
  b->Args({12 * 128, 128})->Args({1, 1000})->Args({1, 50257});
}

}  // namespace bench
