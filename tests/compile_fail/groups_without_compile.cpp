// expect: cameo: a provider with `groups` needs `compile`
// naming: dreamy_provider
#include <cameo/cameo.hpp>

struct dreamy_provider {
  static constexpr std::string_view name = "dreamy", long_name = "DreamyExecutionProvider";
  cameo::result<std::vector<cameo::node_group>> groups(const cameo::graph_view&) const {
    return std::vector<cameo::node_group>{};
  }
#ifndef CAMEO_MUST_FAIL
  cameo::result<std::vector<cameo::compiled_node>> compile(std::span<const cameo::fused_view>) const {
    return std::vector<cameo::compiled_node>{};
  }
#endif
};
cameo::runtime<cameo::partial<dreamy_provider>> runtime;
