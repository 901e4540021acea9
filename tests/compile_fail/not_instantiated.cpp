// expect: cameo: the kernel is not instantiated for this type
// naming: compiled_elsewhere<int>
#include "kernels.hpp"

template <class T>
struct compiled_elsewhere {
  static constexpr bool instantiated = std::is_same_v<T, float> || std::is_same_v<T, double>;
  static cameo::result<compiled_elsewhere> bind(cameo::bind_context&);
  cameo::status run(cameo::run_context&) const;
};
#ifdef CAMEO_MUST_FAIL
using chosen = int;
#else
using chosen = float;
#endif
auto table = cameo::kernel_list<
    cameo::kernel_entry<cameo::op::Add, cameo::since<7>, cameo::constrain<"T", chosen>, compiled_elsewhere>>::table;
