// expect: cameo: the hook `before_bind` must be `void before_bind
// naming: advising_provider
#include <cameo/cameo.hpp>

struct advising_provider {
  static constexpr std::string_view name = "advising", long_name = "AdvisingExecutionProvider";
#ifdef CAMEO_MUST_FAIL
  int before_bind(cameo::bind_context&) const { return 1; }  // the choice is a member of the context
#else
  void before_bind(cameo::bind_context& c) const { c.choice = 1; }
#endif
  bool claims(const cameo::node_view&) const { return false; }
  cameo::status execute(const cameo::step_view&, cameo::run_context&) const { return cameo::status_code::fail; }
};
cameo::runtime<cameo::partial<advising_provider>> runtime;
