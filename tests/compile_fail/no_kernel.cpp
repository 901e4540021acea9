// expect: cameo: a kernel needs `static result<K> bind
// naming: unbound<float>
#include "kernels.hpp"

template <class T>
struct unbound {
#ifndef CAMEO_MUST_FAIL
  static cameo::result<unbound> bind(cameo::bind_context&) { return unbound{}; }
#endif
  cameo::status run(cameo::run_context&) const { return {}; }
};
auto table = cameo::kernel_list<
    cameo::kernel_entry<cameo::op::Add, cameo::since<7>, cameo::constrain<"T", float>, unbound>>::table;
