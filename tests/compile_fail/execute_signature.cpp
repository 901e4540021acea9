// expect: cameo: the hook `execute` must be `status execute
// naming: hasty_provider
#include <cameo/cameo.hpp>

struct hasty_provider {
  static constexpr std::string_view name = "hasty", long_name = "HastyExecutionProvider";
  bool claims(const cameo::node_view&) const { return false; }
#ifdef CAMEO_MUST_FAIL
  cameo::status execute(const cameo::step_view&, cameo::run_context&) { return {}; }  // not const
#else
  cameo::status execute(const cameo::step_view&, cameo::run_context&) const { return {}; }
#endif
};
cameo::runtime<cameo::partial<hasty_provider>> runtime;
