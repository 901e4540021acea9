#pragma once
#include <cameo/eps/cpu.hpp>

/// The kernels of cpu, under a name that ONNX Runtime does not use.
struct cameo_provider : cameo::eps::cpu {
  static constexpr std::string_view name = "cameo", long_name = "CameoExecutionProvider";
};
