// expect: cameo: again.node, .... needs the first input of the new node
// naming: again
#include "rules.hpp"

#ifdef CAMEO_MUST_FAIL
constexpr auto made = again(n0);
#else
constexpr auto made = again(n0, x);
#endif
constexpr cameo::rule past_cast{"PastCast", name(n0, match<op::Abs>(match<op::Neg>(x))), made};
auto& table = only<past_cast>::table();
