// expect: cameo: the hook `store_weightless` must be `result<context_part> store_weightless.context_builder&
// naming: light_provider
#include "contexts.hpp"

struct light_provider : keeping {
  static constexpr std::string_view name = "light", long_name = "LightExecutionProvider";
#ifdef CAMEO_MUST_FAIL
  cameo::result<cameo::context_part> store_weightless(const cameo::fused_view&) const { return cameo::context_part{}; }
#else
  cameo::result<cameo::context_part> store_weightless(std::string& to, const cameo::fused_view& group,
                                                      const cameo::compiled_node& program) const {
    return store(to, group, program);
  }
#endif
};
cameo::runtime<cameo::partial<light_provider>> runtime;
