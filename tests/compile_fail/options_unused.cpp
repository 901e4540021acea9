// expect: cameo: a provider with options needs
// naming: deaf_provider
#include <cameo/cameo.hpp>

struct deaf_provider {
  static constexpr std::string_view name = "deaf", long_name = "DeafExecutionProvider";
  static constexpr cameo::provider_option options[] = {{"mood", "good", "how it feels"}};
#ifndef CAMEO_MUST_FAIL
  cameo::result<deaf_provider> configured(const cameo::provider_options&) const { return *this; }
#endif
  bool claims(const cameo::node_view&) const { return false; }
  cameo::status execute(const cameo::step_view&, cameo::run_context&) const { return cameo::status_code::fail; }
};
cameo::runtime<cameo::partial<deaf_provider>> runtime;
