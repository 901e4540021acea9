#include <cameo/eps/cpu/grid_sample.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <cmath>

#include "operands/operand_values.hpp"
#include "operands/usable_sizes.hpp"
#include "sampling.hpp"
#include "skeletons/float_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

struct sampled_axis {
  std::int64_t size = 0, stride = 0;
  double low = 0, high = 0;  // the borders for reflection
};

/// Reflects index i at the borders until it lies between them.
template <class R>
std::int64_t reflected(std::int64_t i, const sampled_axis& a) {
  const R x = R(i), low = R(a.low), high = R(a.high), range = high - low;
  if (!(range > 0)) return 0;
  const R past = x < low ? low - x : x > high ? x - high : R(0);
  if (past == 0) return i;
  const R reflections = std::trunc(past / range), rest = past - reflections * range;
  const bool even = std::fmod(reflections, R(2)) == 0;
  return std::int64_t((x < low) == even ? low + rest : high - rest);
}

/// Returns the index of the element that is read at index i, which may be outside of the image; -1 if a zero is read.
template <class R>
std::int64_t element_at(std::int64_t i, const sampled_axis& a, grid_sample::padding outside) {
  if (i >= 0 && i < a.size) return i;
  if (outside == grid_sample::padding::zeros) return -1;
  if (outside == grid_sample::padding::reflection) i = reflected<R>(i, a);
  return std::clamp<std::int64_t>(i, 0, a.size - 1);
}

/// The elements along one axis that a sample depends on, and their weights.
template <class R>
struct axis_taps {
  int count = 0;
  std::int64_t at[4];  // offsets; -1: a zero is read
  R weight[4];
};

template <class R>
R cubic(R distance) {
  constexpr R a = R(-0.75);
  const R x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Positions are computed in the type of the arithmetic, whose rounding decides on which side of a border they are.
/// Only the indices of elements outside the image are reflected or clamped, not the position itself.
template <class R>
axis_taps<R> taps_at(R place, const sampled_axis& a, const grid_sample& how) {
  using enum grid_sample::interpolation;
  R x = how.align_corners ? (place + 1) / 2 * R(a.size - 1) : ((place + 1) * R(a.size) - 1) / 2;
  if (!(x > R(-9e18) && x < R(9e18))) x = R(a.low);  // NaN, or out of the range of integers
  const R left = how.mode == nearest ? std::nearbyint(x) : std::floor(x), rest = x - left;
  const auto first = std::int64_t(left) - (how.mode == cubic ? 1 : 0);
  axis_taps<R> taps;
  taps.count = how.mode == nearest ? 1 : how.mode == linear ? 2 : 4;
  for (int k = 0; k < taps.count; ++k) {
    const R linear_weight = k == 0 ? R(first + 1) - x : rest;
    taps.weight[k] = how.mode == nearest ? 1 : how.mode == linear ? linear_weight : eps::cubic<R>(R(k - 1) - rest);
    const std::int64_t at = element_at<R>(first + k, a, how.outside);
    taps.at[k] = at < 0 ? -1 : at * a.stride;
  }
  return taps;
}

/// Interpolates at a position: a weighted sum of the elements around it along each axis. R is the type of sums.
template <class R, class T>
R sample(const T* plane, const axis_taps<R>* taps, std::size_t axes, std::int64_t base = 0) {
  R sum = 0;
  for (int k = 0; k < taps->count; ++k) {
    if (taps->at[k] < 0) continue;
    const R inner =
        axes == 1 ? R(widened(plane[base + taps->at[k]])) : sample<R>(plane, taps + 1, axes - 1, base + taps->at[k]);
    sum += taps->weight[k] * inner;
  }
  return sum;
}

/// Returns the element that mode nearest selects, of any type; null if a zero is read.
template <class T, class R>
const T* nearest_element(const T* plane, const axis_taps<R>* taps, std::size_t axes) {
  for (std::size_t i = 0; i < axes; ++i) {
    if (taps[i].at[0] < 0) return nullptr;
    plane += taps[i].at[0];
  }
  return plane;
}

status check_inputs(const value& x, const value& grid) {
  if (status s = check_rank("grid", grid.shape, x.shape.rank(), x.shape.rank()); !s) return s;
  for (const value* v : {&x, &grid})
    if (status s = usable_sizes("an input", v->shape); !s) return s;
  return {};
}

/// Sets the axes of X, whose elements must be numbers unless they are only copied.
status place_axes(const grid_sample& how, const value& x, sampled_axis* axes) {
  if (status s = check_pixels(x); !s) return s;
  if (how.mode != grid_sample::interpolation::nearest && !(detail::bit_of(x.type) & number_elements::mask))
    return refuse(status_code::not_implemented, "weighted means of ", x.type);
  for (std::size_t i = 2; i < x.shape.rank(); ++i) {
    const auto size = double(x.shape[i]);
    const double low = how.align_corners ? 0 : -0.5, high = size - (how.align_corners ? 1 : 0.5);
    axes[i - 2] = {x.shape[i], x.shape.count(i + 1, x.shape.rank()), low, high};
  }
  return {};
}

}  // namespace

result<grid_sample> grid_sample::bind(bind_context& c) {
  const attributes_of<op::GridSample> a{c.attributes};
  const auto mode = a.mode.value_or(op::grid_sample_mode_choice::linear);
  return grid_sample{interpolation_of<interpolation>(mode), a.padding_mode, a.align_corners != 0};
}

status grid_sample::run(run_context& c) const {
  const value &x = c.input(0), &grid = c.input(1);
  const std::size_t rank = x.shape.rank(), axes = rank - 2;
  const extents& g = grid.shape;
  if (status s = check_inputs(x, grid); !s) return s;
  extents shape{x.shape[0], x.shape[1]};
  for (std::size_t i = 1; i + 1 < rank; ++i) shape.push_back(g[i]);
  const result<value*> y = c.output(0, shape);
  if (!y) return y.error();
  if (status s = check_type("Y", (*y)->type, x.type); !s) return s;
  if (shape.count() == 0) return {};
  sampled_axis all[max_axes];
  if (status s = place_axes(*this, x, all); !s) return s;
  const std::int64_t channels = x.shape[1], in = x.shape.count(2, rank), out = shape.count(2, rank);
  const std::int64_t reach = mode == interpolation::cubic ? 64 : 8;
  return elements::visit(x.type, status{}, [&]<class T>(std::type_identity<T>) -> status {
    using R = std::conditional_t<std::is_same_v<T, float> || is_narrow_float<T>, float, double>;
    const T* const from = static_cast<const T*>(x.data);
    T* const to = static_cast<T*>((*y)->data);
    parallel_for(c, shape[0] * out, std::max<std::int64_t>(1, (1 << 13) / (reach * channels)),
                 [&](std::int64_t first, std::int64_t last) {
                   constexpr std::int64_t at_once = 32;
                   double places[32 * max_axes];
                   for (std::int64_t p = first; p < last; ++p) {
                     const std::int64_t held = (p - first) % at_once;
                     if (held == 0)
                       load_floats(grid, p * std::int64_t(axes), places,
                                   std::min(at_once, last - p) * std::int64_t(axes));
                     const double* const place = places + held * std::int64_t(axes);
                     axis_taps<R> taps[max_axes];
                     for (std::size_t i = 0; i < axes; ++i) taps[i] = taps_at(R(place[axes - 1 - i]), all[i], *this);
                     for (std::int64_t ch = 0; ch < channels; ++ch) {
                       const std::int64_t plane = p / out * channels + ch;
                       T& target = to[plane * out + p % out];
                       if (mode == interpolation::nearest) {
                         const T* const found = nearest_element(from + plane * in, taps, axes);
                         target = found ? *found : T{};
                       } else if constexpr (is_number<T>) {
                         target = as_element<T>(sample<R>(from + plane * in, taps, axes));
                       }
                     }
                   }
                 });
    return {};
  });
}

}  // namespace CAMEO_NAMESPACE::eps
