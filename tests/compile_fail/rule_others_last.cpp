// expect: cameo: `others` stands for the inputs after those that a pattern names: last
// naming: op::Clip
#include "rules.hpp"

#ifdef CAMEO_MUST_FAIL
constexpr auto limited = match<op::Clip>(others, x);
#else
constexpr auto limited = match<op::Clip>(x, others);
#endif
constexpr cameo::rule limit_goes{"LimitGoes", match<op::Neg>(limited), make<op::Neg>(x)};
auto& table = only<limit_goes>::table();
