// expect: cameo: the replacement copies attributes of a node the pattern never names
// naming: transposed_last
#include "rules.hpp"

#ifdef CAMEO_MUST_FAIL
constexpr auto source = n1;
#else
constexpr auto source = n0;
#endif
constexpr cameo::rule transposed_last{"TransposedLast", name(n0, match<op::Transpose>(match<op::Neg>(x))),
                                      make<op::Neg>(make<op::Transpose>(x).copy<"perm">(source))};
auto& table = only<transposed_last>::table();
