#pragma once
#include "one_node.hpp"

#include <benchmark/benchmark.h>

namespace bench {

/// A convolution of one square image [cin, size, size] with weights [cout, cin / groups, kernel, kernel]. The image is
/// padded with zeros so that the output has the same size if the stride is 1.
struct conv_case {
  std::int64_t cin, cout, size, kernel, stride, groups;
  numbers x = random_numbers(std::size_t(cin * size * size), 1),
          w = random_numbers(std::size_t(cout * (cin / groups) * kernel * kernel), 2),
          bias = random_numbers(std::size_t(cout), 3);
  std::int64_t pad() const { return kernel / 2; }
  std::int64_t out() const { return (size + 2 * pad() - kernel) / stride + 1; }
  std::size_t terms() const { return std::size_t(cin / groups * kernel * kernel); }
};

/// Computes the convolution as ONNX defines it, one output after the other; T is the type of the sums.
template <class T>
void convolve(const conv_case& c, numbers& y) {
  const std::int64_t in_group = c.cin / c.groups, out_group = c.cout / c.groups;
  std::size_t at = 0;
  for (std::int64_t o = 0; o < c.cout; ++o)
    for (std::int64_t row = 0; row < c.out(); ++row)
      for (std::int64_t column = 0; column < c.out(); ++column) {
        T sum = T(c.bias[std::size_t(o)]);
        for (std::int64_t i = 0; i < in_group; ++i)
          for (std::int64_t p = 0; p < c.kernel; ++p)
            for (std::int64_t q = 0; q < c.kernel; ++q) {
              const std::int64_t r = row * c.stride + p - c.pad(), s = column * c.stride + q - c.pad();
              if (r < 0 || r >= c.size || s < 0 || s >= c.size) continue;
              sum += T(c.x[std::size_t(((o / out_group * in_group + i) * c.size + r) * c.size + s)]) *
                     T(c.w[std::size_t(((o * in_group + i) * c.kernel + p) * c.kernel + q)]);
            }
        y[at++] = float(sum);
      }
}

/// Times an implementation: a class that is constructed from a case and has run(y). A wrong result is an error.
template <class Contender>
void conv(benchmark::State& state) {
  const conv_case given{state.range(0), state.range(1), state.range(2), state.range(3), state.range(4), state.range(5)};
  Contender contender{given};
  numbers y(std::size_t(given.cout * given.out() * given.out())), want(y.size());
  convolve<double>(given, want);
  contender.run(y);
  if (!agrees(y, want, given.terms())) return state.SkipWithError("wrong answer, not timed");
  for (auto _ : state) contender.run(y), benchmark::DoNotOptimize(y.data());
  state.counters["flops"] =
      benchmark::Counter(2.0 * double(y.size() * given.terms()), benchmark::Counter::kIsIterationInvariantRate);
}

/// Layers of ResNet-50, and two depthwise layers of MobileNetV2.
inline void conv_cases(benchmark::internal::Benchmark* b) {
  b->ArgNames({"cin", "cout", "size", "kernel", "stride", "groups"})->Unit(benchmark::kMicrosecond);
  b->Args({3, 64, 224, 7, 2, 1})->Args({64, 64, 56, 1, 1, 1})->Args({64, 64, 56, 3, 1, 1});
  b->Args({128, 128, 28, 3, 1, 1})->Args({256, 256, 14, 3, 1, 1})->Args({512, 512, 7, 3, 1, 1});
  b->Args({512, 2048, 7, 1, 1, 1})->Args({256, 512, 56, 1, 2, 1});
  b->Args({96, 96, 112, 3, 2, 96})->Args({384, 384, 14, 3, 1, 384});
}

}  // namespace bench
