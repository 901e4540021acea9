// expect: cameo: the hook `claims` must be `bool claims
// naming: hesitant_provider
#include <cameo/cameo.hpp>

struct hesitant_provider {
  static constexpr std::string_view name = "hesitant", long_name = "HesitantExecutionProvider";
#ifdef CAMEO_MUST_FAIL
  int claims(const cameo::node_view&) const { return -1; }
#else
  bool claims(const cameo::node_view&) const { return false; }
#endif
  cameo::status execute(const cameo::step_view&, cameo::run_context&) const { return {}; }
};
cameo::runtime<cameo::partial<hesitant_provider>> runtime;
