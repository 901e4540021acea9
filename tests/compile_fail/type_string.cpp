// expect: cameo: the operator has no such type string
// naming: op::Relu
#include "kernels.hpp"

#ifdef CAMEO_MUST_FAIL
constexpr cameo::detail::fixed_string type_string{"T1"};
#else
constexpr cameo::detail::fixed_string type_string{"T"};
#endif
auto table = cameo::kernel_list<
    cameo::kernel_entry<cameo::op::Relu, cameo::since<6>, cameo::constrain<type_string, float>, some_kernel>>::table;
