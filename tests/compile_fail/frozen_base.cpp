// expect: cameo: frozen<Base> keeps plans of kernels; Base needs
// naming: hesitant_provider
#include <cameo/cameo.hpp>
#include <cameo/eps/frozen.hpp>
#include <cameo/op/onnx.hpp>

struct identity {
  static cameo::result<identity> bind(cameo::bind_context&) { return identity{}; }
  cameo::status run(cameo::run_context& c) const { return c.forward(0, c.input(0)); }
};

struct hesitant_provider {
  static constexpr std::string_view name = "hesitant", long_name = "HesitantExecutionProvider";
  bool claims(const cameo::node_view&) const { return false; }
#ifndef CAMEO_MUST_FAIL
  using kernels =
      cameo::kernel_list<cameo::erased_entry<cameo::op::Identity, cameo::since<1>, cameo::any_types, identity>>;
#else
  cameo::status execute(const cameo::step_view&, cameo::run_context&) const { return {}; }
#endif
};
cameo::runtime<cameo::partial<cameo::eps::frozen<hesitant_provider>>> runtime;
