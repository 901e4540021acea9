// expect: cameo: a provider's `transforms` run after partitioning
// naming: hasty_provider
#include "rules.hpp"

struct nothing {
  static constexpr std::string_view name = "Nothing";
  static cameo::result<bool> run(cameo::rewriter&) { return false; }
};
struct hasty_provider {
  static constexpr std::string_view name = "hasty", long_name = "HastyExecutionProvider";
  bool claims(const cameo::node_view&) const { return false; }
  cameo::status execute(const cameo::step_view&, cameo::run_context&) const { return {}; }
#ifdef CAMEO_MUST_FAIL
  static constexpr auto level = cameo::optimization_level::basic;
#else
  static constexpr auto level = cameo::optimization_level::extended;
#endif
  using transforms = cameo::transform_set<cameo::transform_list<level, nothing>>;
};
cameo::runtime<cameo::partial<hasty_provider>> runtime;
