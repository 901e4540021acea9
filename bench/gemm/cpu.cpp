#include "gemm/gemm.hpp"

namespace bench {
namespace {

struct cameo_cpu {
  explicit cameo_cpu(const gemm_case& c)
      : given{c}, node{"MatMul", 13, {c.m, c.k}, {{cameo::extents{c.k, c.n}, &c.b}}} {}
  void run(numbers& c) { node.run({given.m, given.k}, given.a, {given.m, given.n}, c); }
  const gemm_case& given;
  one_node node;
};

}  // namespace

BENCHMARK_TEMPLATE(gemm, cameo_cpu)->Apply(gemm_cases);

}  // namespace bench
