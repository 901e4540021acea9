// expect: cameo: the rule names an attribute that this operator does not have
// naming: op::Gemm
#include "rules.hpp"

#ifdef CAMEO_MUST_FAIL
constexpr auto product = match<op::Gemm>(x, y, z).attr<"transpose_a">(0);
#else
constexpr auto product = match<op::Gemm>(x, y, z).attr<"transA">(0);
#endif
constexpr cameo::rule no_product{"NoGemm", product, z};
auto& table = only<no_product>::table();
