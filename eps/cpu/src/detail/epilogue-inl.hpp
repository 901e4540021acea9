// What happens to a vector of results before it is stored, once per instruction set. The guard is Highway's: the file
// is seen once for each.
#if defined(CAMEO_EPS_CPU_EPILOGUE) == defined(HWY_TARGET_TOGGLE)
#ifdef CAMEO_EPS_CPU_EPILOGUE
#undef CAMEO_EPS_CPU_EPILOGUE
#else
#define CAMEO_EPS_CPU_EPILOGUE
#endif
#include <hwy/highway.h>

#include <cameo/eps/cpu/detail/gemm.hpp>

HWY_BEFORE_NAMESPACE();
namespace cameo::inline CAMEO_ABI::eps {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using tag = hn::ScalableTag<T>;
template <class T>
using vec = hn::Vec<tag<T>>;

template <class T>
HWY_INLINE vec<T> activate(const activation& f, vec<T> v) {
  const tag<T> d;
  const vec<T> zero = hn::Zero(d);
  // Comparisons are written so that NaN passes.
  switch (f.kind) {
    case activation_kind::relu: return hn::IfThenZeroElse(hn::Lt(v, zero), v);
    case activation_kind::leaky_relu: return hn::IfThenElse(hn::Lt(v, zero), hn::Mul(v, hn::Set(d, T(f.a))), v);
    case activation_kind::clip: {
      const vec<T> low = hn::Set(d, T(f.a)), high = hn::Set(d, T(f.b));
      v = hn::IfThenElse(hn::Lt(v, low), low, v);
      return hn::IfThenElse(hn::Gt(v, high), high, v);
    }
    case activation_kind::hard_sigmoid: {
      const vec<T> one = hn::Set(d, T(1));
      v = hn::MulAdd(v, hn::Set(d, T(f.a)), hn::Set(d, T(f.b)));
      v = hn::IfThenZeroElse(hn::Lt(v, zero), v);
      return hn::IfThenElse(hn::Gt(v, one), one, v);
    }
    default: return v;
  }
}

template <class T>
HWY_INLINE vec<T> finish(const gemm_epilogue<T>& e, std::int64_t row, std::int64_t column, vec<T> v) {
  const tag<T> d;
  if (e.alpha != T(1)) v = hn::Mul(v, hn::Set(d, e.alpha));
  if (e.bias) {
    const T* const bias = e.bias + row * e.bias_row_stride;
    const vec<T> added = e.bias_column_stride ? hn::LoadU(d, bias + column) : hn::Set(d, *bias);
    v = e.beta == T(1) ? hn::Add(v, added) : hn::MulAdd(added, hn::Set(d, e.beta), v);
  }
  if (e.add) v = hn::Add(v, hn::LoadU(d, e.add + row * e.add_row_stride + column));
  return activate<T>(e.f, v);
}

// What is done on a vector is not done again on memory.
inline bool in_registers(activation_kind kind) { return kind <= activation_kind::hard_sigmoid; }

}  // namespace HWY_NAMESPACE
}  // namespace cameo::inline CAMEO_ABI::eps
HWY_AFTER_NAMESPACE();
#endif
