// expect: cameo: this element of a kernel_list is not an entry
// naming: relu
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/op/onnx.hpp>

struct relu {
  static cameo::result<relu> bind(cameo::bind_context&) { return relu{}; }
  cameo::status run(cameo::run_context&) const { return {}; }
};
template <class>
using relu_of = relu;
struct npu {
  static constexpr std::string_view name = "npu", long_name = "NpuExecutionProvider";
#ifdef CAMEO_MUST_FAIL
  using kernels = cameo::kernel_list<relu>;
#else
  using kernels =
      cameo::kernel_list<cameo::kernel_entry<cameo::op::Relu, cameo::since<14>, cameo::constrain<"T", float>, relu_of>>;
#endif
};
cameo::runtime<npu, cameo::eps::cpu> runtime;
