// Rows of float, once per instruction set.
#include <detail/simd.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detail/float_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <detail/float_rows.hpp>
#include <detail/math-inl.hpp>
#include <detail/turn-inl.hpp>

#include "../moments.hpp"

HWY_BEFORE_NAMESPACE();
namespace cameo::inline CAMEO_ABI::eps {
namespace HWY_NAMESPACE {
namespace rows {
namespace hn = hwy::HWY_NAMESPACE;
using math::set;
using math::tag;
using math::vec;

HWY_INLINE std::int64_t width() { return std::int64_t(hn::Lanes(tag{})); }
HWY_INLINE vec load(const float* x) { return hn::LoadU(tag{}, x); }
HWY_INLINE void store(vec v, float* y) { hn::StoreU(v, tag{}, y); }
/// The first n lanes from memory, the others `rest`.
HWY_INLINE vec load_some(const float* x, std::int64_t n, float rest = 0) {
  HWY_ALIGN float some[HWY_MAX_BYTES / sizeof(float)];
  for (std::int64_t i = 0; i < width(); ++i) some[i] = i < n ? x[i] : rest;
  return hn::Load(tag{}, some);
}
HWY_INLINE void store_some(vec v, float* y, std::int64_t n) {
  HWY_ALIGN float some[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(v, tag{}, some);
  for (std::int64_t i = 0; i < n; ++i) y[i] = some[i];
}

/// y = f(x); a tail runs through the same instructions as whole vectors.
template <class F>
void map(const float* x, float* y, std::int64_t n, const F& f) {
  const std::int64_t lanes = width();
  std::int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const vec v = f(load(x + i)), w = f(load(x + i + lanes));
    store(v, y + i), store(w, y + i + lanes);
  }
  for (; i + lanes <= n; i += lanes) store(f(load(x + i)), y + i);
  if (i < n) store_some(f(load_some(x + i, n - i)), y + i, n - i);
}

/// Four vectors of sums at a time, then one: neither do additions wait for each other nor do sums grow long.
template <class F>
HWY_INLINE float sum_of_floats(std::int64_t n, const F& f) {
  const std::int64_t lanes = width();
  vec s0 = hn::Zero(tag{}), s1 = s0, s2 = s0, s3 = s0;
  std::int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = f(i, lanes, s0), s1 = f(i + lanes, lanes, s1);
    s2 = f(i + 2 * lanes, lanes, s2), s3 = f(i + 3 * lanes, lanes, s3);
  }
  for (; i + lanes <= n; i += lanes) s0 = f(i, lanes, s0);
  if (i < n) s1 = f(i, n - i, s1);
  return hn::GetLane(hn::SumOfLanes(tag{}, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}
HWY_INLINE vec load_up_to(const float* x, std::int64_t count, float rest = 0) {
  return count == width() ? load(x) : load_some(x, count, rest);
}

float largest_of(const float* x, std::int64_t n) {
  constexpr float least = -HUGE_VALF;
  const std::int64_t lanes = width();
  vec m0 = set(least), m1 = m0;
  std::int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) m0 = hn::Max(m0, load(x + i)), m1 = hn::Max(m1, load(x + i + lanes));
  for (; i + lanes <= n; i += lanes) m0 = hn::Max(m0, load(x + i));
  if (i < n) m1 = hn::Max(m1, load_some(x + i, n - i, least));
  return hn::GetLane(hn::MaxOfLanes(tag{}, hn::Max(m0, m1)));
}

void softmax(const float* x, float* y, std::int64_t n) {
  const vec largest = set(largest_of(x, n));
  const float sum = sum_of_floats(n, [&](std::int64_t i, std::int64_t count, vec s) {
    const vec e = math::exp_down(hn::Sub(load_up_to(x + i, count, -HUGE_VALF), largest));
    if (count == width()) store(e, y + i);
    else store_some(e, y + i, count);
    return hn::Add(s, e);
  });
  const vec factor = set(1 / sum);
  map(y, y, n, [&](vec v) { return hn::Mul(v, factor); });
}
void log_softmax(const float* x, float* y, std::int64_t n) {
  const vec largest = set(largest_of(x, n));
  const float sum = sum_of_floats(n, [&](std::int64_t i, std::int64_t count, vec s) {
    return hn::Add(s, math::exp_down(hn::Sub(load_up_to(x + i, count, -HUGE_VALF), largest)));
  });
  const vec rest = set(float(std::log(double(sum))));
  map(x, y, n, [&](vec v) { return hn::Sub(hn::Sub(v, largest), rest); });
}

constexpr std::int64_t block = 4096;  // elements that are summed in float; these sums are added in double

double sum_by_blocks(const float* x, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; i += block)
    sum += double(sum_of_floats(std::min(block, n - i), [&](std::int64_t j, std::int64_t count, vec s) {
      return hn::Add(s, load_up_to(x + i + j, count));
    }));
  return sum;
}
/// Sums of x - center and of its square.
struct two_sums {
  double plain = 0, squares = 0;
};
two_sums centered_sums(const float* x, std::int64_t n, float center) {
  const vec c = set(center), zero = hn::Zero(tag{});
  const std::int64_t lanes = width();
  two_sums sums;
  for (std::int64_t start = 0; start < n; start += block) {
    const std::int64_t end = std::min(n, start + block);
    vec p0 = zero, p1 = zero, s0 = zero, s1 = zero, s2 = zero, s3 = zero;
    std::int64_t i = start;
    for (; i + 4 * lanes <= end; i += 4 * lanes) {
      const vec v0 = hn::Sub(load(x + i), c), v1 = hn::Sub(load(x + i + lanes), c);
      const vec v2 = hn::Sub(load(x + i + 2 * lanes), c), v3 = hn::Sub(load(x + i + 3 * lanes), c);
      p0 = hn::Add(p0, hn::Add(v0, v1)), p1 = hn::Add(p1, hn::Add(v2, v3));
      s0 = hn::MulAdd(v0, v0, s0), s1 = hn::MulAdd(v1, v1, s1);
      s2 = hn::MulAdd(v2, v2, s2), s3 = hn::MulAdd(v3, v3, s3);
    }
    for (; i < end; i += lanes) {
      const vec v = hn::Sub(load_up_to(x + i, std::min(lanes, end - i), center), c);
      p0 = hn::Add(p0, v), s0 = hn::MulAdd(v, v, s0);
    }
    sums.plain += double(hn::GetLane(hn::SumOfLanes(tag{}, hn::Add(p0, p1))));
    sums.squares += double(hn::GetLane(hn::SumOfLanes(tag{}, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)))));
  }
  return sums;
}

void add(const float* x, const float* y, float* z, std::int64_t n) {
  const std::int64_t lanes = width();
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) store(hn::Add(load(x + i), load(y + i)), z + i);
  if (i < n) store_some(hn::Add(load_some(x + i, n - i), load_some(y + i, n - i)), z + i, n - i);
}

row_statistics normalize(const normal_row<float>& r) {
  const float* x = r.x;
  if (r.skip || r.skip_bias || r.sum) {
    float* const to = r.sum ? r.sum : r.y;
    if (r.skip) add(x, r.skip, to, r.n);
    else std::copy_n(x, r.n, to);
    if (r.skip_bias) add(to, r.skip_bias, to, r.n);
    x = to;
  }
  row_statistics s{};
  const float center = r.centers ? float(sum_by_blocks(x, r.n) / double(r.n)) : 0;
  const two_sums sums = centered_sums(x, r.n, center);
  const double lack = r.centers ? sums.plain / double(r.n) : 0;  // of `center` to the mean: sums of floats are inexact
  s.mean = double(center) + lack;
  const double variance = sums.squares / double(r.n) - lack * lack;
  s.inverse = 1 / std::sqrt((variance < 0 ? 0 : variance) + r.epsilon);
  const vec inverse = set(float(s.inverse)), shift = set(float(-lack * s.inverse)), middle = set(center);
  const auto normal = [&](vec v) { return hn::MulAdd(hn::Sub(v, middle), inverse, shift); };
  const std::int64_t lanes = width();
  std::int64_t i = 0;
  if (r.bias) {
    for (; i + lanes <= r.n; i += lanes)
      store(hn::MulAdd(normal(load(x + i)), load(r.scale + i), load(r.bias + i)), r.y + i);
  } else {
    for (; i + lanes <= r.n; i += lanes) store(hn::Mul(normal(load(x + i)), load(r.scale + i)), r.y + i);
  }
  if (const std::int64_t left = r.n - i; left > 0) {
    vec v = normal(load_some(x + i, left));
    const vec scale = load_some(r.scale + i, left);
    v = r.bias ? hn::MulAdd(v, scale, load_some(r.bias + i, left)) : hn::Mul(v, scale);
    store_some(v, r.y + i, left);
  }
  return s;
}

}  // namespace rows

void softmax_now(const float* x, float* y, std::int64_t n) { rows::softmax(x, y, n); }
void log_softmax_now(const float* x, float* y, std::int64_t n) { rows::log_softmax(x, y, n); }
double sum_now(const float* x, std::int64_t n) { return rows::sum_by_blocks(x, n); }
row_statistics normalize_now(const normal_row<float>& r) { return rows::normalize(r); }

void turn_now(const float* from, std::int64_t from_stride, std::int64_t count, std::int64_t columns, float* to,
              std::int64_t to_stride) {
#if CAMEO_SIMD_VECTORS
  const auto store_four = [](auto v, float* at) { hwy::HWY_NAMESPACE::StoreU(v, turning::four{}, at); };
#else
  const int store_four = 0;
#endif
  turning::turn(from, from_stride, count, columns, to, to_stride, store_four,
                [](const float* one, float* at) { std::memcpy(at, one, sizeof *at); });
}

}  // namespace HWY_NAMESPACE
}  // namespace cameo::inline CAMEO_ABI::eps
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cameo::inline CAMEO_ABI::eps {

HWY_EXPORT(softmax_now);
HWY_EXPORT(log_softmax_now);
HWY_EXPORT(sum_now);
HWY_EXPORT(normalize_now);
HWY_EXPORT(turn_now);

void softmax_row(const float* x, float* y, std::int64_t n) { HWY_DYNAMIC_DISPATCH(softmax_now)(x, y, n); }
void log_softmax_row(const float* x, float* y, std::int64_t n) { HWY_DYNAMIC_DISPATCH(log_softmax_now)(x, y, n); }
void turn_floats(const float* from, std::int64_t from_stride, std::int64_t rows, std::int64_t columns, float* to,
                 std::int64_t to_stride) {
  HWY_DYNAMIC_DISPATCH(turn_now)(from, from_stride, rows, columns, to, to_stride);
}
double sum_row(const float* x, std::int64_t n) { return HWY_DYNAMIC_DISPATCH(sum_now)(x, n); }
row_statistics normalize_row(const normal_row<float>& r) { return HWY_DYNAMIC_DISPATCH(normalize_now)(r); }

row_statistics normalize_row(const normal_row<double>& r) {
  const double* x = r.x;
  if (r.skip || r.skip_bias || r.sum) {
    double* const to = r.sum ? r.sum : r.y;
    for (std::int64_t i = 0; i < r.n; ++i) to[i] = x[i] + (r.skip ? r.skip[i] : 0) + (r.skip_bias ? r.skip_bias[i] : 0);
    x = to;
  }
  const moments m =
      r.centers ? moments_of(x, r.n) : moments{0, sum_of(x, r.n, [](double v) { return v * v; }) / double(r.n)};
  const row_statistics s{m.mean, 1 / std::sqrt(m.variance + r.epsilon)};
  for (std::int64_t i = 0; i < r.n; ++i) r.y[i] = (x[i] - s.mean) * s.inverse * r.scale[i] + (r.bias ? r.bias[i] : 0);
  return s;
}

}  // namespace cameo::inline CAMEO_ABI::eps
#endif
