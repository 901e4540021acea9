// expect: cameo: `others` must be last in a pattern
// naming: op::Clip
#include "rules.hpp"

#ifdef CAMEO_MUST_FAIL
constexpr auto limited = match<op::Clip>(others, x);
#else
constexpr auto limited = match<op::Clip>(x, others);
#endif
constexpr cameo::rule without_limits{"WithoutLimits", match<op::Neg>(limited), make<op::Neg>(x)};
auto& table = only<without_limits>::table();
