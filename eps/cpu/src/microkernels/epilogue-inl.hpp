// The epilogue of a product (the operations on sums before they are stored) for one vector, compiled once per
// instruction set.
#include <hwy/highway.h>

#include <cameo/eps/cpu/detail/gemm_block.hpp>

#include "functions/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using tag = hn::ScalableTag<T>;
template <class T>
using vec = hn::Vec<tag<T>>;

/// Clamps `v`, if the activation is bounds (Relu, Clip); other activations are applied to stored results.
template <class T>
HWY_INLINE vec<T> activate(const activation& f, vec<T> v) {
  using functions::lanes;
  if (f.kind != activation_kind::bounds) return v;
  return functions::apply(op::Clip{}, lanes<T>(v), lanes<T>(T(f.a)), lanes<T>(T(f.b))).v;
}

/// Applies alpha, bias, addend and bounds to the sums `v`, which are those of C that begin at (row, column).
template <class T>
HWY_INLINE vec<T> finish(const gemm_epilogue<T>& e, std::int64_t row, std::int64_t column, vec<T> v) {
  const tag<T> d;
  if (e.alpha != T(1)) v = hn::Mul(v, hn::Set(d, e.alpha));
  if (e.bias) {
    const T* const bias = e.bias + row * e.bias_row_stride;
    const vec<T> added = e.bias_column_stride ? hn::LoadU(d, bias + column) : hn::Set(d, *bias);
    v = hn::Add(v, e.beta == T(1) ? added : hn::Mul(added, hn::Set(d, e.beta)));
  }
  if (e.add) v = hn::Add(v, hn::LoadU(d, e.add + row * e.add_row_stride + column));
  return activate<T>(e.f, v);
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
