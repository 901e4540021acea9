// expect: cameo: the last provider of a runtime must be a fallback
// naming: eager_provider
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

struct eager_provider {
  static constexpr std::string_view name = "eager", long_name = "EagerExecutionProvider";
  bool claims(const cameo::node_view&) const { return true; }
  cameo::status execute(const cameo::step_view&, cameo::run_context&) const { return {}; }
};
#ifdef CAMEO_MUST_FAIL
cameo::runtime<cameo::eps::cpu, eager_provider> runtime;
#else
cameo::runtime<eager_provider, cameo::eps::cpu> runtime;
#endif
