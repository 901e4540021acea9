// expect: cameo: `name` and `long_name` of a provider must be `static constexpr std::string_view`
// naming: npu
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

struct npu {
#ifdef CAMEO_MUST_FAIL
  static std::string_view name;
#else
  static constexpr std::string_view name = "npu";
#endif
  static constexpr std::string_view long_name = "NpuExecutionProvider";
  bool claims(const cameo::node_view&) const { return true; }
  cameo::status execute(const cameo::step_view&, cameo::run_context&) const { return {}; }
};
cameo::runtime<npu, cameo::eps::cpu> runtime;
