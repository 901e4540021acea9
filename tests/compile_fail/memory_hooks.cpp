// expect: cameo: a provider with separate memory needs four hooks
// naming: forgetful_provider
#include <cameo/cameo.hpp>

struct forgetful_provider {
  static constexpr std::string_view name = "forgetful", long_name = "ForgetfulExecutionProvider";
  bool claims(const cameo::node_view&) const { return false; }
  cameo::status execute(const cameo::step_view&, cameo::run_context&) const { return {}; }
  void* allocate(std::size_t, std::size_t) const noexcept { return nullptr; }
#ifndef CAMEO_MUST_FAIL
  void release(void*, std::size_t) const noexcept {}
#endif
  cameo::status copy_from_host(void*, const void*, std::size_t) const { return {}; }
  cameo::status copy_to_host(void*, const void*, std::size_t) const { return {}; }
};
cameo::runtime<cameo::partial<forgetful_provider>> runtime;
