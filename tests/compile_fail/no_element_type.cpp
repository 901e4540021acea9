// expect: cameo: not an element type of ONNX
// naming: colour
#include "kernels.hpp"

struct colour {};
#ifdef CAMEO_MUST_FAIL
using chosen = colour;
#else
using chosen = float;
#endif
auto table = cameo::kernel_list<
    cameo::kernel_entry<cameo::op::Relu, cameo::since<6>, cameo::constrain<"T", chosen>, some_kernel>>::table;
