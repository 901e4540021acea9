// expect: cameo: a policy of a runtime needs `result<std::vector<std::size_t>> operator
// naming: whimsical_policy
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

struct whimsical_policy {
#ifdef CAMEO_MUST_FAIL
  std::size_t operator()(const cameo::device_request&) const { return 0; }
#else
  cameo::result<std::vector<std::size_t>> operator()(const cameo::device_request&) const {
    return std::vector<std::size_t>{0};
  }
#endif
};
cameo::runtime<cameo::devices_by<whimsical_policy>, cameo::eps::cpu> runtime;
