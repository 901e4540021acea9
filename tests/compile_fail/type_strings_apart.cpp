// expect: cameo: no version of this operator in the range of `since` has all these type strings at once
// naming: op::BatchNormalization
#include "kernels.hpp"

using cameo::constrain;
#ifdef CAMEO_MUST_FAIL
constexpr auto types =
    constrain<"U", float> && constrain<"T1", float>;  // only version 14 has U, and only version 15 has T1
#else
constexpr auto types = constrain<"T2", float> && constrain<"T1", float>;
#endif
auto table =
    cameo::kernel_list<cameo::kernel_entry<cameo::op::BatchNormalization, cameo::since<14>, types, some_kernel>>::table;
