// expect: cameo: the rule gives this operator more inputs than it has
// naming: op::Gemm
#include "rules.hpp"

#ifdef CAMEO_MUST_FAIL
constexpr auto product = make<op::Gemm>(x, y, z, x);
#else
constexpr auto product = make<op::Gemm>(x, y, z);
#endif
constexpr cameo::rule to_product{"MatMulAdd", match<op::Add>(match<op::MatMul>(x, y), z), product};
auto& table = only<to_product>::table();
