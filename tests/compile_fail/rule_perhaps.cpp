// expect: cameo: the node of perhaps..... takes its first input as argument, and optionally `others`
// naming: op::Add
#include "rules.hpp"

#ifdef CAMEO_MUST_FAIL
constexpr auto middle = perhaps(match<op::Add>(x, y));
#else
constexpr auto middle = perhaps(match<op::Cast>(x));
#endif
constexpr cameo::rule optional_middle{"OptionalMiddle", match<op::Relu>(middle), make<op::Relu>(x)};
auto& table = only<optional_middle>::table();
