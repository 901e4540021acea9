#include "gemm/gemm.hpp"

#include <Eigen/Core>

namespace bench {
namespace {

struct eigen {
  using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  explicit eigen(const gemm_case& c) : given{c} {}
  void run(numbers& c) {
    const Eigen::Map<const matrix> a{given.a.data(), given.m, given.k}, b{given.b.data(), given.k, given.n};
    Eigen::Map<matrix>{c.data(), given.m, given.n}.noalias() = a * b;
  }
  const gemm_case& given;
};

}  // namespace

BENCHMARK_TEMPLATE(gemm, eigen)->Apply(gemm_cases);

}  // namespace bench
