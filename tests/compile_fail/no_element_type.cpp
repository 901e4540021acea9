// expect: cameo: not an element type of ONNX
// naming: color
#include "kernels.hpp"

struct color {};
#ifdef CAMEO_MUST_FAIL
using chosen = color;
#else
using chosen = float;
#endif
auto table = cameo::kernel_list<
    cameo::kernel_entry<cameo::op::Relu, cameo::since<6>, cameo::constrain<"T", chosen>, some_kernel>>::table;
