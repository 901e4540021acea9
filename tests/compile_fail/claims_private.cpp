// expect: cameo: the hook `claims` is private or overloaded
// naming: npu
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

class npu {
 public:
  static constexpr std::string_view name = "npu", long_name = "NpuExecutionProvider";
  cameo::status execute(const cameo::step_view&, cameo::run_context&) const { return {}; }

#ifdef CAMEO_MUST_FAIL
 private:
#endif
  bool claims(const cameo::node_view&) const { return true; }
};
cameo::runtime<npu, cameo::eps::cpu> runtime;
