// Sums over contiguous elements, compiled once per instruction set. All sets with a fused multiply-add give the same
// bits.
//
// There are 32 partial sums, and element i is added to partial sum i % 32, whatever the size of a vector: the sums are
// two vectors with AVX-512, eight with NEON. At the end the upper half of the sums is added to the lower half, until
// one is left. With 16 sums, an addition of AVX-512 would have to wait for the one before.
#include <hwy/highway.h>

#include <cameo/core/abi.hpp>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::lane_sums {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using tag = hn::ScalableTag<T>;
template <class T>
using vec = hn::Vec<tag<T>>;

inline constexpr std::int64_t sums_at_a_time = 32;
/// The number of elements of a vector, and of vectors that hold the partial sums.
template <class T>
inline constexpr std::int64_t width = CAMEO_SIMD_VECTORS ? HWY_MAX_BYTES / std::int64_t(sizeof(T)) : 1;
template <class T>
inline constexpr int vectors = int(sums_at_a_time / width<T>);

/// Loads the first n elements of a vector; the others are `rest`.
template <class T>
HWY_INLINE vec<T> load_some(const T* x, std::int64_t n, T rest = T(0)) {
  HWY_ALIGN T some[width<T>];
  for (std::int64_t i = 0; i < width<T>; ++i) some[i] = i < n ? x[i] : rest;
  return hn::Load(tag<T>{}, some);
}
template <class T>
HWY_INLINE vec<T> load_up_to(const T* x, std::int64_t n, T rest = T(0)) {
  return n == width<T> ? hn::LoadU(tag<T>{}, x) : load_some(x, n, rest);
}
template <class T>
HWY_INLINE void store_some(vec<T> v, T* y, std::int64_t n) {
  HWY_ALIGN T some[width<T>];
  hn::Store(v, tag<T>{}, some);
  for (std::int64_t i = 0; i < n; ++i) y[i] = some[i];
}

/// a * b + c, rounded as MulAdd of vectors rounds it.
template <class T>
HWY_INLINE T multiply_add(T a, T b, T c) {
  const hn::CappedTag<T, 1> d;
  return hn::GetLane(hn::MulAdd(hn::Set(d, a), hn::Set(d, b), hn::Set(d, c)));
}

/// Reduces the lanes of a vector to one number: op(upper half, lower half), until one is left.
template <class D, class F>
HWY_INLINE hn::TFromD<D> fold_vector([[maybe_unused]] D d, hn::Vec<D> v, [[maybe_unused]] const F& op) {
#if CAMEO_SIMD_VECTORS
  if constexpr (sizeof(v) > 16) {
    const hn::Half<D> half;
    return fold_vector(half, op(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), op);
  } else if constexpr (sizeof(hn::TFromD<D>) == 4) {
    v = op(v, hn::Shuffle1032(v));
    v = op(v, hn::Shuffle2301(v));
  } else {
    v = op(v, hn::Shuffle01(v));
  }
#endif
  return hn::GetLane(v);
}

/// The 32 partial sums.
template <class T>
struct sums {
  vec<T> sum[vectors<T>];

  HWY_INLINE sums() {
    for (auto& v : sum) v = hn::Zero(tag<T>{});
  }
  HWY_INLINE T total() {
    for (int half = vectors<T> / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) sum[i] = hn::Add(sum[i], sum[i + half]);
    return fold_vector(tag<T>{}, sum[0], [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); });
  }
};

/// Calls f(i, count, v) for each vector of the elements [i, i + count) of n; v is the number of the vector modulo
/// vectors<T>. The last vector may have fewer elements than lanes.
template <class T, class F>
HWY_INLINE void each_vector(std::int64_t n, const F& f) {
  std::int64_t i = 0;
  for (; i + sums_at_a_time <= n; i += sums_at_a_time)
#ifndef __OPTIMIZE_SIZE__
#pragma GCC unroll 32
#endif
    for (int v = 0; v < vectors<T>; ++v) f(i + v * width<T>, width<T>, v);
  for (int v = 0; i < n; ++v, i += width<T>) f(i, std::min(width<T>, n - i), v);
}

/// Sums over n elements. f(i, count, s) adds a function of the elements [i, i + count) to the lanes of s, and nothing
/// to lanes from `count` on.
template <class T, class F>
HWY_INLINE T sum_of(std::int64_t n, const F& f) {
  sums<T> s;
  each_vector<T>(n, [&](std::int64_t i, std::int64_t count, int v) HWY_ATTR { s.sum[v] = f(i, count, s.sum[v]); });
  return s.total();
}

/// The dot product of x and y.
template <class T>
HWY_INLINE T dot(const T* x, const T* y, std::int64_t n) {
  return sum_of<T>(n, [&](std::int64_t i, std::int64_t count, vec<T> s)
                          HWY_ATTR { return hn::MulAdd(load_up_to(x + i, count), load_up_to(y + i, count), s); });
}

/// The largest of n elements; `least` for none. If an element is NaN, the result is any number: all results of a
/// softmax are NaN then.
template <class T>
HWY_INLINE T largest_of(const T* x, std::int64_t n, T least) {
  vec<T> most[vectors<T>];
  for (auto& v : most) v = hn::Set(tag<T>{}, least);
  each_vector<T>(n, [&](std::int64_t i, std::int64_t count, int v)
                        HWY_ATTR { most[v] = hn::Max(most[v], load_up_to(x + i, count, least)); });
  for (int v = 1; v < vectors<T>; ++v) most[0] = hn::Max(most[0], most[v]);
  return fold_vector(tag<T>{}, most[0], [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); });
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::lane_sums
HWY_AFTER_NAMESPACE();
