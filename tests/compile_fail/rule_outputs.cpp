// expect: cameo: the replacement makes more outputs than what it replaces
// naming: op::TopK
#include "rules.hpp"

#ifdef CAMEO_MUST_FAIL
constexpr auto largest = make<op::TopK>(x, y);
#else
constexpr auto largest = make<op::ReduceMax>(x, y);
#endif
constexpr cameo::rule to_largest{"Largest", match<op::Gather>(x, y), largest};
auto& table = only<to_largest>::table();
