#pragma once
#include <cameo/cameo.hpp>
#include <cameo/op/onnx.hpp>

/// A kernel for any element types, for kernel lists that are valid or not.
template <class... Ts>
struct some_kernel {
  static cameo::result<some_kernel> bind(cameo::bind_context&) { return some_kernel{}; }
  cameo::status run(cameo::run_context&) const { return {}; }
};
