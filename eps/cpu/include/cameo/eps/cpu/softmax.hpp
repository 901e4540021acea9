#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/onnx.hpp>

namespace cameo::inline CAMEO_ABI::eps {

/// The common part of Softmax, LogSoftmax and Hardmax.
struct softmax_state {
  static constexpr std::int64_t columns = 64;
  /// n columns of an [axis, inner] block, n at most `columns`. y may be x.
  template <class C>
  using column_function = void (*)(const C* x, C* y, std::int64_t axis, std::int64_t inner, std::int64_t n);
  column_function<float> in_float = nullptr;
  column_function<double> in_double = nullptr;
  std::int64_t axis = -1;
  bool flattens = false;  // before opset 13: over all axes from `axis` on

  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&, column_function<C>) const;
};

/// Softmax: exp(x - max) / sum of those; LogSoftmax: its logarithm; Hardmax: 1 at the first largest, 0 elsewhere; along
/// an axis. Narrow floats compute as float. y may be x.
template <class Op>
struct softmax : softmax_state {
  static constexpr bool instantiated = is_one_of<Op, op::Softmax, op::LogSoftmax, op::Hardmax>;
  static result<softmax> bind(bind_context&);
};

}  // namespace cameo::inline CAMEO_ABI::eps
