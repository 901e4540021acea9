#pragma once
#include <cameo/geometry/reduction.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

template <class C>
struct columns_block;

/// The members that normalizations along an axis share; the operators differ in the function for a block of columns.
struct axis_normalization_state {
  template <class C>
  using column_function = void (*)(const columns_block<C>&);
  column_function<float> in_float = nullptr;
  column_function<double> in_double = nullptr;
  std::int64_t axis = -1, p = 0;
  geometry::normalized how = geometry::normalized::along_axis;

  status run(run_context&) const;
};

/// Normalizations along an axis. Softmax: exp(x - max), divided by the sum of these; LogSoftmax: the logarithm of
/// Softmax; Hardmax: 1 for the first of the largest elements, 0 elsewhere. Before opset 13 these three normalize over
/// all axes from `axis` on. LpNormalization: x divided by the sum of |x| (p = 1) or by the root of the sum of squares
/// (p = 2), and x itself if the sum is 0. float16 and bfloat16 are computed in float, sums in double. y may be the
/// buffer of x.
template <class Op>
struct axis_normalization : axis_normalization_state {
  static result<axis_normalization> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
