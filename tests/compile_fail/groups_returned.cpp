// expect: cameo: the hook `groups` must be
// naming: npu
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

struct npu {
  static constexpr std::string_view name = "npu", long_name = "NpuExecutionProvider";
  using taken = std::vector<cameo::node_group>;
#ifdef CAMEO_MUST_FAIL
  taken groups(const cameo::graph_view&) const { return {}; }
#else
  cameo::result<taken> groups(const cameo::graph_view&) const { return taken{}; }
#endif
  cameo::result<std::vector<cameo::compiled_node>> compile(std::span<const cameo::fused_view>) const {
    return std::vector<cameo::compiled_node>{};
  }
};
cameo::runtime<npu, cameo::eps::cpu> runtime;
