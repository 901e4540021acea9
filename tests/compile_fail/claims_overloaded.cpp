// expect: cameo: the hook `claims` is private or overloaded
// naming: npu
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

struct npu {
  static constexpr std::string_view name = "npu", long_name = "NpuExecutionProvider";
  bool claims(const cameo::node_view&) const { return true; }
#ifdef CAMEO_MUST_FAIL
  bool claims(int) const { return true; }
#endif
  cameo::status execute(const cameo::step_view&, cameo::run_context&) const { return {}; }
};
cameo::runtime<npu, cameo::eps::cpu> runtime;
