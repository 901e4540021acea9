// expect: cameo: a provider needs `name`
// naming: shy_provider
#include <cameo/cameo.hpp>

struct shy_provider {
  static constexpr std::string_view name = "shy";
#ifndef CAMEO_MUST_FAIL
  static constexpr std::string_view long_name = "ShyExecutionProvider";
#endif
  bool claims(const cameo::node_view&) const { return false; }
  cameo::status execute(const cameo::step_view&, cameo::run_context&) const { return {}; }
};
cameo::runtime<cameo::partial<shy_provider>> runtime;
