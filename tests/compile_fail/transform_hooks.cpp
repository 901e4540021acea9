// expect: cameo: a transform needs `name`, and `static result<bool> run
// naming: idle_transform
#include "rules.hpp"

struct idle_transform {
  static constexpr std::string_view name = "Idle";
#ifdef CAMEO_MUST_FAIL
  bool run(cameo::rewriter&) { return false; }
#else
  static cameo::result<bool> run(cameo::rewriter&) { return false; }
#endif
};
auto& table = cameo::transform_list<cameo::optimization_level::basic, idle_transform>::table();
