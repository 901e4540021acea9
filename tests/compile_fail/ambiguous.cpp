// expect: cameo: two entries of one kernel list match the same node
// naming: since<6.*since<13
#include "kernels.hpp"

#ifdef CAMEO_MUST_FAIL
using older = cameo::since<6>;
#else
using older = cameo::since<6, 6>;
#endif
using cameo::op::Relu;
auto table =
    cameo::kernel_list<cameo::kernel_entry<Relu, older, cameo::constrain<"T", float, double>, some_kernel>,
                       cameo::kernel_entry<Relu, cameo::since<13>, cameo::constrain<"T", double>, some_kernel>>::table;
