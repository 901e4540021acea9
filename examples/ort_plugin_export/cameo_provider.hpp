#pragma once
#include <cameo/eps/cpu.hpp>

/// cameo's own kernels, under a name that ONNX Runtime has not taken.
struct cameo_provider : cameo::eps::cpu {
  static constexpr std::string_view name = "cameo", long_name = "CameoExecutionProvider";
};
