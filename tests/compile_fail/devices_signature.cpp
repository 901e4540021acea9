// expect: cameo: the hook `devices` must be `result<std::vector<provider_device>> devices
// naming: boastful_provider
#include <cameo/cameo.hpp>

struct boastful_provider {
  static constexpr std::string_view name = "boastful", long_name = "BoastfulExecutionProvider";
#ifdef CAMEO_MUST_FAIL
  std::vector<cameo::provider_device> devices() const { return {}; }  // cannot report an error
#else
  cameo::result<std::vector<cameo::provider_device>> devices() const { return std::vector<cameo::provider_device>{}; }
#endif
  bool claims(const cameo::node_view&) const { return false; }
  cameo::status execute(const cameo::step_view&, cameo::run_context&) const { return cameo::status_code::fail; }
};
cameo::runtime<cameo::partial<boastful_provider>> runtime;
