// expect: cameo: `since` starts at a version that did not change the operator
// naming: since<8
#include "kernels.hpp"

#ifdef CAMEO_MUST_FAIL
using versions = cameo::since<8>;
#else
using versions = cameo::since<7>;
#endif
auto table =
    cameo::kernel_list<cameo::kernel_entry<cameo::op::Add, versions, cameo::constrain<"T", float>, some_kernel>>::table;
