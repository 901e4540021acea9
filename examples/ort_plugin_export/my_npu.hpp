#pragma once
#include <cameo/cameo.hpp>
#include <cameo/op/onnx.hpp>

/// y[i] = max(x[i], 0). y has the shape of x and may be x.
struct relu {
  static cameo::result<relu> bind(cameo::bind_context& c) {
    c.may_overwrite(0, 0);
    return relu{};
  }
  cameo::status run(cameo::run_context& c) const {
    const cameo::tensor_view<const float> x = c.input<float>(0);
    const cameo::result<cameo::tensor_view<float>> y = c.output<float>(0, x.shape());
    if (!y) return y.error();
    for (std::int64_t i = 0; i < x.count(); ++i) (*y)[i] = x[i] < 0 ? 0 : x[i];
    return {};
  }
};

/// The provider of docs/write_a_provider.md; CMakeLists.txt makes it a plugin of ONNX Runtime.
struct my_npu {
  static constexpr std::string_view name = "my_npu", long_name = "MyNpuExecutionProvider";
  using kernels =
      cameo::kernel_list<cameo::erased_entry<cameo::op::Relu, cameo::since<6>, cameo::constrain<"T", float>, relu>>;
};
