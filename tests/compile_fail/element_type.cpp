// expect: cameo: no version of this operator in the range of `since` allows this element type
// naming: op::Relu
#include "kernels.hpp"

#ifdef CAMEO_MUST_FAIL
using versions = cameo::since<6, 13>;  // int32 is allowed from version 14 on
#else
using versions = cameo::since<6, 14>;
#endif
auto table = cameo::kernel_list<
    cameo::kernel_entry<cameo::op::Relu, versions, cameo::constrain<"T", std::int32_t>, some_kernel>>::table;
