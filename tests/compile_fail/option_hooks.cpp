// expect: cameo: a provider with options needs
// naming: moody_provider
#include <cameo/cameo.hpp>

struct moody_provider {
  static constexpr std::string_view name = "moody", long_name = "MoodyExecutionProvider";
#ifndef CAMEO_MUST_FAIL
  static constexpr cameo::provider_option options[] = {{"mood", "good", "how it feels"}};
#endif
  cameo::result<moody_provider> configured(const cameo::provider_options&) const { return *this; }
  bool claims(const cameo::node_view&) const { return false; }
  cameo::status execute(const cameo::step_view&, cameo::run_context&) const { return cameo::status_code::fail; }
};
cameo::runtime<cameo::partial<moody_provider>> runtime;
