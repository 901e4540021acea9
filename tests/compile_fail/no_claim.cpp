// expect: cameo: a provider needs `claims`, `groups`, or
// naming: idle_provider
#include <cameo/cameo.hpp>

struct idle_provider {
  static constexpr std::string_view name = "idle", long_name = "IdleExecutionProvider";
#ifndef CAMEO_MUST_FAIL
  bool claims(const cameo::node_view&) const { return false; }
#endif
  cameo::status execute(const cameo::step_view&, cameo::run_context&) const { return {}; }
};
cameo::runtime<cameo::partial<idle_provider>> runtime;
