#include "gemm/gemm.hpp"

namespace bench {
namespace {

/// Three loops. The innermost one reads rows, so that a compiler can vectorize it.
struct plain {
  explicit plain(const gemm_case& c) : given{c} {}
  void run(numbers& c) {
    std::fill(c.begin(), c.end(), 0.0f);
    for (std::int64_t i = 0; i < given.m; ++i)
      for (std::int64_t p = 0; p < given.k; ++p) {
        const float a = given.a[std::size_t(i * given.k + p)];
        const float* const b = given.b.data() + p * given.n;
        float* const to = c.data() + i * given.n;
        for (std::int64_t j = 0; j < given.n; ++j) to[j] += a * b[j];
      }
  }
  const gemm_case& given;
};

}  // namespace

BENCHMARK_TEMPLATE(gemm, plain)->Apply(gemm_cases);

}  // namespace bench
