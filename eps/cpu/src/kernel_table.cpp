// The list: one line per kernel, in the order of the operator list. The build collects the headers of all kernels.
#include <cameo/eps/cpu.hpp>
#include <cameo/eps/cpu/all_kernels.hpp>
#include <cameo/kernel/kernel_list.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

namespace cameo::inline CAMEO_ABI::eps {
namespace {

// clang-format off
using list = kernel_list<
    // arithmetic, elementwise, reductions, normalisation
    // movement, sequences, strings, control flow
    // dense algebra, convolution, pooling
    kernel_entry<op::Relu, since<6>, constrain<"T", float, double>, relu>
>;
// clang-format on

}  // namespace

constinit const kernel_table cpu_kernels::table = list::table;

}  // namespace cameo::inline CAMEO_ABI::eps
