// expect: cameo: the condition uses a value the pattern never binds
// naming: op::Relu
#include "rules.hpp"

bool is_positive(const cameo::match_result&, const cameo::value_view&) { return false; }

#ifdef CAMEO_MUST_FAIL
constexpr auto checked = y;
#else
constexpr auto checked = x;
#endif
constexpr cameo::rule no_relu{"NoRelu", match<op::Relu>(x), x, when(check<is_positive>(checked))};
auto& table = only<no_relu>::table();
