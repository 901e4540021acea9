// expect: cameo: a pattern must begin with match<...>, which names operators
// naming: any_root
#include "rules.hpp"

#ifdef CAMEO_MUST_FAIL
constexpr auto root = having<cameo::role::reshapes>(x, others);
#else
constexpr auto root = match<op::Reshape>(having<cameo::role::reshapes>(x, others), y);
#endif
constexpr cameo::rule any_root{"AnyRoot", root, x};
auto& table = only<any_root>::table();
