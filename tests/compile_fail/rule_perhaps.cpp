// expect: cameo: a node that need not be there is given its first input, and perhaps `others`
// naming: op::Add
#include "rules.hpp"

#ifdef CAMEO_MUST_FAIL
constexpr auto between = perhaps(match<op::Add>(x, y));
#else
constexpr auto between = perhaps(match<op::Cast>(x));
#endif
constexpr cameo::rule what_is_between{"WhatIsBetween", match<op::Relu>(between), make<op::Relu>(x)};
auto& table = only<what_is_between>::table();
