// expect: cameo: the hook `groups` must be `result<std::vector<node_group>> groups
// naming: sociable_provider
#include <cameo/cameo.hpp>

struct sociable_provider {
  static constexpr std::string_view name = "sociable", long_name = "SociableExecutionProvider";
#ifdef CAMEO_MUST_FAIL
  std::vector<cameo::node_group> groups(const cameo::graph_view&) const { return {}; }
#else
  cameo::result<std::vector<cameo::node_group>> groups(const cameo::graph_view&) const {
    return std::vector<cameo::node_group>{};
  }
#endif
  cameo::result<std::vector<cameo::compiled_node>> compile(std::span<const cameo::fused_view>) const {
    return std::vector<cameo::compiled_node>{};
  }
};
cameo::runtime<cameo::partial<sociable_provider>> runtime;
