// expect: cameo: the replacement uses a value the pattern never binds
// naming: op::Neg
#include "rules.hpp"

#ifdef CAMEO_MUST_FAIL
constexpr auto subtracted = z;
#else
constexpr auto subtracted = y;
#endif
constexpr cameo::rule add_of_neg{"AddOfNeg", match<op::Add>(x, match<op::Neg>(y)), make<op::Sub>(x, subtracted)};
auto& table = only<add_of_neg>::table();
