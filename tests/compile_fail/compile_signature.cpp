// expect: cameo: the hook `compile` must be
// naming: terse_provider
#include <cameo/cameo.hpp>

struct terse_provider {
  static constexpr std::string_view name = "terse", long_name = "TerseExecutionProvider";
  cameo::result<std::vector<cameo::node_group>> groups(const cameo::graph_view&) const {
    return std::vector<cameo::node_group>{};
  }
#ifdef CAMEO_MUST_FAIL
  cameo::result<cameo::compiled_node> compile(const cameo::fused_view&) const { return cameo::compiled_node{}; }
#else
  cameo::result<std::vector<cameo::compiled_node>> compile(std::span<const cameo::fused_view>) const {
    return std::vector<cameo::compiled_node>{};
  }
#endif
};
cameo::runtime<cameo::partial<terse_provider>> runtime;
