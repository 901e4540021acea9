// Functions of rows of float, compiled once per instruction set.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "float_rows.hpp"
#include "math-inl.hpp"
#include "sums-inl.hpp"

#include "moments.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::rows {
namespace hn = hwy::HWY_NAMESPACE;
using lane_sums::largest_of;
using lane_sums::load_some;
using lane_sums::load_up_to;
using lane_sums::store_some;
using lane_sums::sum_of;
using math::set;
using math::tag;
using math::vec;

HWY_INLINE std::int64_t width() { return std::int64_t(hn::Lanes(tag{})); }
HWY_INLINE vec load(const float* x) { return hn::LoadU(tag{}, x); }
HWY_INLINE void store(vec v, float* y) { hn::StoreU(v, tag{}, y); }
/// y = f(x); the last elements of a row run through the same instructions as whole vectors.
template <class F>
void map(const float* x, float* y, std::int64_t n, const F& f) {
  const std::int64_t lanes = width();
  std::int64_t i = 0;
  if constexpr (hn::MaxLanes(tag{}) > 1)  // without vectors, two at a time would only duplicate the code of f
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
      const vec v = f(load(x + i)), w = f(load(x + i + lanes));
      store(v, y + i), store(w, y + i + lanes);
    }
  for (; i + lanes <= n; i += lanes) store(f(load(x + i)), y + i);
  if (i < n) store_some(f(load_some(x + i, n - i)), y + i, n - i);
}

void exp(const float* x, float* y, std::int64_t n) { map(x, y, n, math::exp); }
void softmax(const float* x, float* y, std::int64_t n) {
  const vec largest = set(largest_of(x, n, -HUGE_VALF));
  const float sum = sum_of<float>(n, [&](std::int64_t i, std::int64_t count, vec s) HWY_ATTR {
    const vec e = math::exp_down(hn::Sub(load_up_to(x + i, count, -HUGE_VALF), largest));
    if (count == width()) store(e, y + i);
    else store_some(e, y + i, count);
    return hn::Add(s, e);
  });
  const vec factor = set(1 / sum);
  map(y, y, n, [&](vec v) { return hn::Mul(v, factor); });
}
void log_softmax(const float* x, float* y, std::int64_t n) {
  const vec largest = set(largest_of(x, n, -HUGE_VALF));
  const float sum = sum_of<float>(n, [&](std::int64_t i, std::int64_t count, vec s) HWY_ATTR {
    return hn::Add(s, math::exp_down(hn::Sub(load_up_to(x + i, count, -HUGE_VALF), largest)));
  });
  const vec rest = set(float(std::log(double(sum))));
  map(x, y, n, [&](vec v) { return hn::Sub(hn::Sub(v, largest), rest); });
}

constexpr std::int64_t block = 4096;  // elements that are summed in float; these sums are added in double

double sum_by_blocks(const float* x, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; i += block)
    sum += double(sum_of<float>(std::min(block, n - i), [&](std::int64_t j, std::int64_t count, vec s) HWY_ATTR {
      return hn::Add(s, load_up_to(x + i + j, count));
    }));
  return sum;
}
/// The sums of x - center and of its square.
struct two_sums {
  double plain = 0, squares = 0;
};
two_sums centered_sums(const float* x, std::int64_t n, float center) {
  const vec c = set(center);
  two_sums all;
  for (std::int64_t start = 0; start < n; start += block) {
    lane_sums::sums<float> plain, squares;
    lane_sums::each_vector<float>(std::min(block, n - start), [&](std::int64_t i, std::int64_t count, int at) HWY_ATTR {
      const vec v = hn::Sub(load_up_to(x + start + i, count, center), c);
      plain.sum[at] = hn::Add(plain.sum[at], v);
      squares.sum[at] = hn::MulAdd(v, v, squares.sum[at]);
    });
    all.plain += double(plain.total());
    all.squares += double(squares.total());
  }
  return all;
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
  const double lack = r.centers ? sums.plain / double(r.n) : 0;  // mean - center, as `center` is a sum in float
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

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace CAMEO_NAMESPACE::eps {

void exp_row(const float* x, float* y, std::int64_t n) { CAMEO_SIMD_BEST(rows::exp)(x, y, n); }
void softmax_row(const float* x, float* y, std::int64_t n) { CAMEO_SIMD_BEST(rows::softmax)(x, y, n); }
void log_softmax_row(const float* x, float* y, std::int64_t n) { CAMEO_SIMD_BEST(rows::log_softmax)(x, y, n); }
double sum_row(const float* x, std::int64_t n) { return CAMEO_SIMD_BEST(rows::sum_by_blocks)(x, n); }
row_statistics normalize_row(const normal_row<float>& r) { return CAMEO_SIMD_BEST(rows::normalize)(r); }

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

}  // namespace CAMEO_NAMESPACE::eps
#endif
