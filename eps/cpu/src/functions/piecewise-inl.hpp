// Functions of one element that are linear piece by piece, once per instruction set: those that products apply to sums
// in registers. See maps-inl.hpp.
#if defined(CAMEO_EPS_CPU_PIECEWISE) == defined(HWY_TARGET_TOGGLE)
#ifdef CAMEO_EPS_CPU_PIECEWISE
#undef CAMEO_EPS_CPU_PIECEWISE
#else
#define CAMEO_EPS_CPU_PIECEWISE
#endif
#include <cameo/op/onnx.hpp>

#include "vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
CAMEO_BEGIN_NAMESPACE
namespace eps {
namespace HWY_NAMESPACE {
namespace functions {

template <class V>
HWY_INLINE V apply(op::Relu, V x) {
  return select(x < V(0), V(0), x);
}
template <class V>
HWY_INLINE V apply(op::LeakyRelu, V x, V alpha) {
  return select(x < V(0), alpha * x, x);
}
template <class V>
HWY_INLINE V between_zero_and_one(V x) {
  return select(x < V(0), V(0), select(x > V(1), V(1), x));
}
template <class V>
HWY_INLINE V apply(op::HardSigmoid, V x, V alpha, V beta) {
  return between_zero_and_one(mul_add(alpha, x, beta));
}
/// Fused with what makes x: the limits are numbers of the node.
template <class V>
HWY_INLINE V apply(op::Clip, V x, V low, V high) {
  x = select(x < low, low, x);
  return select(x > high, high, x);
}

}  // namespace functions
}  // namespace HWY_NAMESPACE
}  // namespace eps
CAMEO_END_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
