// expect: cameo: this provider has no default constructor; make the runtime of provider objects
// naming: npu
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

struct npu {
  static constexpr std::string_view name = "npu", long_name = "NpuExecutionProvider";
  explicit npu(int) {}
  bool claims(const cameo::node_view&) const { return true; }
  cameo::status execute(const cameo::step_view&, cameo::run_context&) const { return {}; }
};
#ifdef CAMEO_MUST_FAIL
cameo::runtime<npu, cameo::eps::cpu> runtime;
#else
cameo::runtime runtime{npu{1}, cameo::eps::cpu{}};
#endif
