// expect: cameo: the replacement copies attributes of a node the pattern never names
// naming: turned_back
#include "rules.hpp"

#ifdef CAMEO_MUST_FAIL
constexpr auto from = n1;
#else
constexpr auto from = n0;
#endif
constexpr cameo::rule turned_back{"TurnedBack", name(n0, match<op::Transpose>(match<op::Neg>(x))),
                                  make<op::Neg>(make<op::Transpose>(x).copy<"perm">(from))};
auto& table = only<turned_back>::table();
