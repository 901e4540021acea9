// expect: cameo: src/core/config_keys.hpp has no row for this session key
// naming: session.disable_pre
#include "../../src/core/config_keys.hpp"

#ifdef CAMEO_MUST_FAIL
constexpr auto key = cameo::config_key<"session.disable_prepaking">.key;
#else
constexpr auto key = cameo::config_key<"session.disable_prepacking">.key;
#endif
static_assert(!key.empty());
