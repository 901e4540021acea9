#pragma once
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

template <class C>
struct columns_block;

/// The common part of normalizations along an axis; they differ in what they do to columns.
struct axis_normalization_state {
  template <class C>
  using column_function = void (*)(const columns_block<C>&);
  column_function<float> in_float = nullptr;
  column_function<double> in_double = nullptr;
  std::int64_t axis = -1, p = 0;
  bool flattens = false;       // over all axes from `axis` on
  bool takes_scalars = false;  // as vectors of one

  status finish(bind_context&, std::span<const op_version>);
  status run(run_context&) const;
};

/// Softmax: exp(x - max) / sum of those; LogSoftmax: its logarithm; Hardmax: 1 at the first largest, 0 elsewhere;
/// before opset 13 over all axes from `axis` on. LpNormalization: x / sum of |x| (p 1) or / root of the sum of squares
/// (p 2), where the sum is 0: x. All along an axis. Narrow floats compute as float, sums are made in double. y may be
/// x.
template <class Op>
struct axis_normalization : axis_normalization_state {
  static result<axis_normalization> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
