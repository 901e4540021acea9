#include <cameo/eps/cpu/resize.hpp>
#include <cameo/geometry/axes.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include "operands/operand_values.hpp"
#include "operands/usable_sizes.hpp"
#include "sampling.hpp"
#include "skeletons/float_values.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// One axis of a run. Positions are computed in float, step by step as ONNX Runtime does, because their rounding
/// decides on which side of a border they are.
struct resized_axis {
  std::int64_t in = 0, out = 0;
  float scale = 1, start = 0, end = 1;  // start and end: the region of tf_crop_and_resize
  float length = 0;                     // the length of the output before it was truncated to an integer
  /// An axis of scale 1 is copied, whatever the coordinates and the region are.
  bool changes() const { return scale != 1; }
};

/// Returns the position in the input of element `at` of the output; integers are the centers of elements.
float source_of(const resized_axis& a, resize::coordinates space, std::int64_t at) {
  using enum op::resize_coordinate_transformation_mode_choice;  // clang 14 takes no alias here
  const float x = float(at), in = float(a.in), out = float(a.out), width = a.scale * in;
  if (!a.changes()) return x;
  switch (space) {
    case align_corners: return a.length == 1 ? 0 : x * (in - 1) / (a.length - 1);
    case asymmetric: return x / a.scale;
    case tf_half_pixel_for_nn: return (x + 0.5f) / a.scale;
    case pytorch_half_pixel: return a.out > 1 ? (x + 0.5f) / a.scale - 0.5f : 0;
    case half_pixel_symmetric:
      return float(double(in / 2 * (1 - out / width)) + (double(x) + 0.5) / double(a.scale) - 0.5);
    case tf_crop_and_resize:
      return a.out > 1 ? a.start * (in - 1) + x * (a.end - a.start) * (in - 1) / (out - 1)
                       : float(0.5 * double(a.start + a.end) * double(in - 1));
    default: return (x + 0.5f) / a.scale - 0.5f;
  }
}
/// True if output `at` is outside the input and becomes the extrapolation value.
bool is_outside(const resized_axis& a, resize::coordinates space, std::int64_t at) {
  if (space != resize::coordinates::tf_crop_and_resize) return false;
  const float x = source_of(a, space, at);
  return !(x >= 0 && x <= float(a.in) - 1);
}
/// Clamps a position to a range that integers can represent; beyond it all positions read the border.
float tamed(float x, std::int64_t in, std::int64_t taps) {
  const float most = float(in) + 2 * float(taps) + 4;
  return x >= -most ? std::min(x, most) : -most;
}

std::int64_t nearest_of(const resize& r, const resized_axis& a, std::int64_t at) {
  const float x = tamed(source_of(a, r.space, at), a.in, 1);
  float to = 0;
  switch (r.nearest) {
    case resize::rounding::prefer_floor: to = x == std::trunc(x) + 0.5f ? std::floor(x) : std::round(x); break;
    case resize::rounding::prefer_ceil: to = std::round(x); break;
    case resize::rounding::floor: to = std::floor(x); break;
    case resize::rounding::ceil: to = std::ceil(x); break;
    case resize::rounding::simple: to = a.scale < 1 ? std::ceil(x) : std::trunc(x); break;
  }
  return std::clamp<std::int64_t>(std::int64_t(to), 0, a.in - 1);
}

float cubic_weight(float distance, float a) {
  const float x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/// The distance at which elements have a weight in linear and cubic with antialias; it grows as an axis shrinks.
float support_of(const resize& r, const resized_axis& a) {
  return (r.mode == resize::interpolation::cubic ? 2.0f : 1.0f) * std::max(1.0f, 1.0f / a.scale);
}
/// The number of neighbors that may have a weight for each output.
std::int64_t taps_of(const resize& r, const resized_axis& a) {
  if (r.antialias) return 2 * std::int64_t(std::ceil(support_of(r, a))) + 1;
  return r.mode == resize::interpolation::cubic ? 4 : 2;
}

/// Computes the weights of one output, without antialias, and returns its first neighbor. A neighbor outside the input
/// is replaced by the one at the border.
std::int64_t weigh(const resize& r, const resized_axis& a, std::int64_t at, float* weights) {
  const float x = tamed(source_of(a, r.space, at), a.in, 2);
  if (r.mode == resize::interpolation::linear) {
    const float inside = std::clamp(x, 0.0f, float(a.in - 1));
    const auto left = std::min(std::int64_t(inside), a.in - 1);
    const bool last = left == a.in - 1;
    weights[0] = last ? 0.5f : std::abs(inside - float(left + 1));
    weights[1] = last ? 0.5f : std::abs(inside - float(left));
    return left;
  }
  const float floor = std::floor(x), rest = x - floor;
  const std::int64_t first = std::int64_t(floor) - 1;
  float sum = 0;
  for (std::int64_t k = 0; k < 4; ++k) {
    const bool ignored = r.exclude_outside && (first + k < 0 || first + k >= a.in);
    sum += weights[k] = ignored ? 0 : cubic_weight(float(k - 1) - rest, r.cubic_a);
  }
  if (r.exclude_outside && sum != 0)
    for (std::int64_t k = 0; k < 4; ++k) weights[k] /= sum;
  return first;
}
/// Computes weights as weigh() does, with antialias. All neighbors are inside the input: the weights of those outside
/// are added to the border's, or dropped.
std::int64_t weigh_smoothly(const resize& r, const resized_axis& a, std::int64_t at, std::int64_t taps,
                            float* weights) {
  const float support = support_of(r, a), shrink = a.scale < 1 ? 1 / (1 / a.scale) : 1;
  const float center = 0.5f + tamed(source_of(a, r.space, at), a.in, taps);
  const auto inside = [&](std::int64_t i) { return std::clamp<std::int64_t>(i, 0, a.in); };
  std::int64_t first = std::int64_t(std::floor(center - support + 0.5f));
  std::int64_t last = std::min(std::int64_t(std::floor(center + support + 0.5f)), first + taps);
  if (r.exclude_outside) first = inside(first), last = inside(last);
  float sum = 0;
  for (std::int64_t i = first; i < last; ++i) {
    const float distance = (float(i) - center + 0.5f) * shrink;
    sum += weights[i - first] = r.mode == resize::interpolation::cubic ? cubic_weight(distance, r.cubic_a)
                                                                       : std::max(0.0f, 1 - std::abs(distance));
  }
  const std::int64_t from = inside(first), to = inside(last);
  std::fill_n(weights + std::max<std::int64_t>(0, last - first), taps - std::max<std::int64_t>(0, last - first), 0.0f);
  if (from >= to) return std::fill_n(weights, taps, 0.0f), 0;
  for (std::int64_t i = first; i < from; ++i) weights[from - first] += weights[i - first];
  for (std::int64_t i = to; i < last; ++i) weights[to - 1 - first] += weights[i - first];
  std::copy(weights + (from - first), weights + (to - first), weights);
  std::fill(weights + (to - from), weights + taps, 0.0f);
  const float part = sum == 0 ? 1 : 1 / sum;
  for (std::int64_t k = 0; k < to - from; ++k) weights[k] *= part;
  return from;
}

/// The weights of linear or cubic interpolation along one axis.
struct weight_table {
  std::int64_t taps = 0;
  const std::int64_t* first = nullptr;
  const float* weights = nullptr;
};
result<weight_table> make_table(run_context& c, const resize& r, const resized_axis& a) {
  const std::int64_t taps = taps_of(r, a);
  std::int64_t count = 0;
  if (!checked_multiply(taps, a.out, count)) return status_code::out_of_memory;
  const auto first = c.scratch<std::int64_t>(std::size_t(a.out));
  const auto weights = c.scratch<float>(std::size_t(count));
  if (!first || !weights) return status_code::out_of_memory;
  for (std::int64_t o = 0; o < a.out; ++o) {
    float* const own = weights->data() + o * taps;
    (*first)[std::size_t(o)] = r.antialias ? weigh_smoothly(r, a, o, taps, own) : weigh(r, a, o, own);
  }
  return weight_table{taps, first->data(), weights->data()};
}

/// The arithmetic of weighted sums over neighbors. Bytes with antialias have weights of 22 bits, and are saturated to
/// the range of uint8 even if they are int8, as in ONNX Runtime.
template <class T, class C>
struct weighted_sums {
  using sum = C;
  static C weight(float w) { return C(w); }
  static constexpr C start = 0;
  static T element(C v) {
    if constexpr (std::is_integral_v<T>) return as_element<T>(std::round(v));
    else return T(v);
  }
};
struct byte_sums {
  using sum = std::int64_t;
  static constexpr int bits = 22;
  static sum weight(float w) { return sum(std::round(w * float(1 << bits))); }
  static constexpr sum start = sum{1} << (bits - 1);
  static std::uint8_t element(sum v) { return std::uint8_t(std::clamp<sum>(v >> bits, 0, 255)); }
};

/// Resizes one axis: x [outer, in, inner] to y [outer, out, inner].
template <class S, class T>
status resize_axis(run_context& c, const T* x, T* y, std::int64_t outer, std::int64_t inner, const resized_axis& a,
                   const weight_table& table) {
  const std::int64_t block = std::min<std::int64_t>(inner, 256);  // elements that are summed together
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, inner * table.taps));
  parallel_for(c, outer * a.out, grain, [&](std::int64_t begin, std::int64_t end) {
    typename S::sum sums[256];
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t o = row % a.out, first = table.first[o];
      for (std::int64_t at = 0; at < inner; at += block) {
        const std::int64_t n = std::min(block, inner - at);
        std::fill_n(sums, n, S::start);
        for (std::int64_t k = 0; k < table.taps; ++k) {
          const auto w = S::weight(table.weights[o * table.taps + k]);
          if (w == 0) continue;
          const std::int64_t line = row / a.out * a.in + std::clamp<std::int64_t>(first + k, 0, a.in - 1);
          const T* const from = x + line * inner + at;
          for (std::int64_t i = 0; i < n; ++i) sums[i] += w * typename S::sum(from[i]);
        }
        T* const to = y + row * inner + at;
        for (std::int64_t i = 0; i < n; ++i) to[i] = T(S::element(sums[i]));
      }
    }
  });
  return {};
}

/// Resizes one axis after the other, the last axis first, in numbers of type N. `done(numbers)` receives the result.
template <class S, class N, class Done>
status each_axis(run_context& c, const resize& r, const value& x, const N* from, std::span<const resized_axis> axes,
                 const Done& done) {
  std::int64_t most = 0;
  extents shape = x.shape;
  for (std::size_t i = axes.size(); i-- > 0;) {
    shape[i] = axes[i].out;
    std::int64_t count = 0;
    if (!shape.checked_count(count)) return status_code::out_of_memory;
    most = std::max(most, count);
  }
  const auto one = c.scratch<N>(std::size_t(most)), two = c.scratch<N>(std::size_t(most));
  if (!one || !two) return status_code::out_of_memory;
  N* to = one->data();
  shape = x.shape;
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (!axes[i].changes() || (r.antialias && axes[i].in == axes[i].out)) continue;
    const result<weight_table> table = make_table(c, r, axes[i]);
    if (!table) return table.error();
    if (status s = resize_axis<S>(c, from, to, shape.count(0, i), shape.count(i + 1, shape.rank()), axes[i], *table);
        !s)
      return s;
    shape[i] = axes[i].out;
    from = to, to = to == one->data() ? two->data() : one->data();
  }
  done(from);
  return {};
}

/// Resizes floats, and integers in mode cubic, which ONNX Runtime does not support: in C, rounded to the nearest
/// integer.
template <class T, class C>
status weigh_axes(run_context& c, const resize& r, const value& x, value& y, std::span<const resized_axis> axes) {
  const auto copy = c.scratch<C>(std::is_same_v<T, C> ? 0 : std::size_t(x.shape.count()));
  if (!copy) return copy.error();
  const C* numbers = copy->data();
  if constexpr (std::is_same_v<T, C>) numbers = static_cast<const C*>(x.data);
  else
    std::transform(static_cast<const T*>(x.data), static_cast<const T*>(x.data) + x.shape.count(), copy->data(),
                   [](T v) { return C(widened(v)); });
  return each_axis<weighted_sums<C, C>>(c, r, x, numbers, axes, [&](const C* made) {
    for (std::int64_t i = 0; i < y.shape.count(); ++i)
      static_cast<T*>(y.data)[i] = as_element<T>(std::is_integral_v<T> ? std::nearbyint(made[i]) : made[i]);
  });
}
/// The axes that linear interpolation weighs together, the last one fastest. They are the image axes of ONNX Runtime
/// (2-D, 3-D, the last two or the middle two of four axes, the last three of five), because results of integers depend
/// on them.
struct image_axes {
  std::size_t first = 0, count = 0;
  image_axes(std::span<const resized_axis> axes) {
    const std::size_t rank = axes.size();
    std::size_t begin = rank, end = 0;
    for (std::size_t i = 0; i < rank; ++i)
      if (axes[i].changes()) begin = std::min(begin, i), end = i + 1;
    first = rank <= 3 ? 0 : rank == 4 && axes[1].changes() ? 1 : 2;
    count = rank <= 3 ? rank : rank == 4 ? 2 : 3;
    if (rank > 5 || begin < first || end > first + count) first = begin, count = end - begin;
  }
};

/// Resizes integers in mode linear: the sum over all corners around a position, truncated to an integer. Bytes with the
/// channels after the image axes have weights of 10 bits for each axis.
template <class T>
status blend_integers(run_context& c, const resize& r, const value& x, value& y, std::span<const resized_axis> axes) {
  using C = std::conditional_t<(sizeof(T) > 4), double, float>;
  const image_axes image{axes};
  const bool fixed = sizeof(T) == 1 && axes.size() == 4 && image.first == 1 && image.count == 2;
  weight_table tables[max_rank];
  for (std::size_t i = 0; i < image.count; ++i) {
    const resized_axis& a = axes[image.first + i];
    const result<weight_table> made = make_table(c, r, a);
    if (!made) return made.error();
    tables[i] = *made;
  }
  const extents strides = row_major_strides(x.shape);
  const std::int64_t inner = x.shape.count(image.first + image.count, axes.size());
  const std::int64_t places = y.shape.count(image.first, image.first + image.count);
  const std::int64_t plane = x.shape.count(image.first, axes.size());
  const std::int64_t outer = x.shape.count(0, image.first), corners = std::int64_t{1} << image.count;
  const T* const from = static_cast<const T*>(x.data);
  T* const to = static_cast<T*>(y.data);
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 12) / std::max<std::int64_t>(1, inner * corners));
  parallel_for(c, outer * places, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      std::int64_t at[max_rank], rest = p % places;
      for (std::size_t i = image.count; i-- > 0; rest /= axes[image.first + i].out)
        at[i] = rest % axes[image.first + i].out;
      for (std::int64_t j = 0; j < inner; ++j) {
        C sum = 0;
        std::int64_t fixed_sum = 0;
        for (std::int64_t corner = 0; corner < corners; ++corner) {
          std::int64_t place = p / places * plane + j, fixed_weight = 1;
          C weight = 1;
          for (std::size_t i = image.count; i-- > 0;) {
            const resized_axis& a = axes[image.first + i];
            const std::int64_t side = corner >> (image.count - 1 - i) & 1;
            const float* const weights = tables[i].weights + at[i] * 2;
            const auto fixed_right = std::int64_t(weights[1] * 1024);
            weight *= C(weights[side]);
            fixed_weight *= side ? fixed_right : 1024 - fixed_right;
            place += std::min(tables[i].first[at[i]] + side, a.in - 1) * strides[image.first + i];
          }
          sum += weight * C(from[place]);
          fixed_sum += fixed_weight * std::int64_t(from[place]);
        }
        to[p * inner + j] = fixed ? T(fixed_sum / (1 << 20)) : as_element<T>(sum);
      }
    }
  });
  return {};
}

/// Sets elements outside of the input to the extrapolation value.
template <class T>
void fill_outside(const resize& r, value& y, std::span<const resized_axis> axes) {
  const T filler = as_element<T>(r.extrapolation);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t inner = y.shape.count(i + 1, axes.size()), outer = y.shape.count(0, i);
    for (std::int64_t o = 0; o < axes[i].out; ++o) {
      if (!is_outside(axes[i], r.space, o)) continue;
      for (std::int64_t k = 0; k < outer; ++k)
        std::fill_n(static_cast<T*>(y.data) + (k * axes[i].out + o) * inner, inner, filler);
    }
  }
}

template <class T>
status interpolate(run_context& c, const resize& r, const value& x, value& y, std::span<const resized_axis> axes) {
  status done;
  if constexpr (!std::is_integral_v<T>) {
    done = weigh_axes<T, computed_in<T>>(c, r, x, y, axes);
  } else {
    using sums = std::conditional_t<sizeof(T) == 1, byte_sums,
                                    weighted_sums<T, std::conditional_t<(sizeof(T) > 4), double, float>>>;
    const auto store = [&](const T* made) { std::copy_n(made, y.shape.count(), static_cast<T*>(y.data)); };
    if (r.antialias) done = each_axis<sums>(c, r, x, static_cast<const T*>(x.data), axes, store);  // rounds after each
    else if (r.mode == resize::interpolation::linear) done = blend_integers<T>(c, r, x, y, axes);
    else done = weigh_axes<T, double>(c, r, x, y, axes);
  }
  if (done) fill_outside<T>(r, y, axes);
  return done;
}

status move_nearest(run_context& c, const resize& r, const value& x, value& y, std::span<const resized_axis> axes) {
  const std::size_t rank = axes.size();
  std::size_t places = 0;
  for (const resized_axis& a : axes) places += std::size_t(a.out);
  const result<std::span<std::int64_t>> table = c.scratch<std::int64_t>(places);
  if (!table) return table.error();
  const extents strides = row_major_strides(x.shape);
  const std::int64_t* source[max_rank];
  std::size_t at = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    source[i] = table->data() + at;
    for (std::int64_t o = 0; o < axes[i].out; ++o) {
      const bool outside = is_outside(axes[i], r.space, o);
      (*table)[at++] = outside ? no_place : nearest_of(r, axes[i], o) * strides[i];
    }
  }
  alignas(16) std::byte filler[16] = {};
  number_elements::call(x.type, [&]<class T>(std::type_identity<T>) {
    const T number = as_element<T>(r.extrapolation);
    std::memcpy(filler, &number, sizeof number);
  });
  return copy_by_tables(c, x, y, source, filler, 0, 0), status{};
}

/// The scales or the sizes of a run, in the order of the axes that they belong to.
struct amounts {
  std::span<const float> scales = {};
  const value* sizes = nullptr;
};
status read_amounts(const run_context& c, const resize& r, std::size_t count, amounts& out) {
  if (r.sizes_at >= 0 && c.has_input(std::size_t(r.sizes_at))) {
    const value& sizes = c.input(std::size_t(r.sizes_at));
    if (sizes && sizes.shape.count() > 0) out.sizes = &sizes;
  }
  if (out.sizes) return check_count("sizes", out.sizes->shape.count(), std::int64_t(count));
  out.scales = r.scales;
  if (r.scales_at >= 0) {
    const value& scales = c.input(std::size_t(r.scales_at));
    if (scales) out.scales = {static_cast<const float*>(scales.data), std::size_t(scales.shape.count())};
  }
  if (status s = check_count("scales", std::int64_t(out.scales.size()), std::int64_t(count)); !s) return s;
  for (float s : out.scales)
    if (!(s > 0 && s < 1e18f)) return bad_input("scales must be positive numbers");
  return {};
}

status apply_sizes(const resize& r, const value& sizes, const geometry::axis_list& named, resized_axis* axes) {
  const integers all{sizes};
  float least = std::numeric_limits<float>::max(), largest = std::numeric_limits<float>::min();
  for (std::size_t k = 0; k < named.size(); ++k) {
    resized_axis& a = axes[named[k]];
    a.out = all[std::int64_t(k)];
    if (status s = check_at_least("an element of sizes", a.out, 0); !s) return s;
    if (a.in == 0 && a.out > 0) return bad_input("axis ", named[k], " is empty and can't become ", a.out, " long");
    a.scale = a.in > 0 ? float(a.out) / float(a.in) : 1;
    least = std::min(least, a.scale), largest = std::max(largest, a.scale);
  }
  if (r.keep_ratio == resize::policy::stretch) return {};
  const float scale = r.keep_ratio == resize::policy::not_larger ? least : largest;
  for (std::size_t i : named) {
    const float size = std::round(scale * float(axes[i].in));
    if (status s = check_fits("Y", size < 9e18f); !s) return s;
    axes[i].scale = scale, axes[i].out = std::int64_t(size);
  }
  return {};
}

status read_region(const run_context& c, const resize& r, const geometry::axis_list& named, resized_axis* axes) {
  if (r.space != resize::coordinates::tf_crop_and_resize) return {};
  const value& roi = c.input(std::size_t(r.roi_at));
  if (status s = check_count("roi", roi ? roi.shape.count() : 0, 2 * std::int64_t(named.size())); !s) return s;
  for (std::size_t k = 0; k < named.size(); ++k) {
    resized_axis& a = axes[named[k]];
    a.start = float_at<float>(roi, std::int64_t(k)), a.end = float_at<float>(roi, std::int64_t(k + named.size()));
  }
  return {};
}

}  // namespace

result<resize> resize::bind(bind_context& c) {
  const attributes_of<op::Resize> a{c.attributes};
  resize made;
  made.mode = interpolation_of<interpolation>(a.mode);
  if (c.since == 10) return made.scales_at = 1, made;
  made.space = a.coordinate_transformation_mode, made.keep_ratio = a.keep_aspect_ratio_policy;
  made.nearest = rounding(a.nearest_mode);
  made.exclude_outside = a.exclude_outside != 0, made.antialias = a.antialias != 0;
  if (made.antialias && made.mode == interpolation::nearest)
    return bad_attribute("antialias goes with mode linear or cubic, not nearest");
  made.cubic_a = a.cubic_coeff_a, made.extrapolation = a.extrapolation_value;
  made.has_axes = !a.axes.empty(), made.axes = a.axes;
  made.roi_at = 1, made.scales_at = 2, made.sizes_at = 3;
  return made;
}

result<resize> upsample::bind(bind_context& c) {
  const attributes_of<op::Upsample> a{c.attributes};
  resize made;
  made.mode = interpolation_of<resize::interpolation>(a.mode);
  if (c.since >= 9) return made.scales_at = 1, made;
  if (c.since == 7) return made.scales = a.scales, made;
  const result<std::span<float>> four = c.keep<float>(4);
  if (!four) return four.error();
  (*four)[0] = (*four)[1] = 1;
  (*four)[2] = a.height_scale, (*four)[3] = a.width_scale;
  made.scales = *four;
  return made;
}

status resize::run(run_context& c) const {
  const value& x = c.input(0);
  const std::size_t rank = x.shape.rank();
  resized_axis all[max_rank];
  for (std::size_t i = 0; i < rank; ++i) all[i].in = all[i].out = x.shape[i];
  if (status s = usable_sizes("X", x.shape); !s) return s;
  const result<geometry::axis_list> found =
      has_axes ? geometry::axes_of<std::int64_t>(axes, rank, "attribute axes") : geometry::axis_list::all(rank);
  if (!found) return found.error();
  const geometry::axis_list& named = *found;
  const std::size_t count = named.size();
  amounts given;
  if (status read = read_amounts(c, *this, count, given); !read) return read;
  if (given.sizes) {
    if (status applied = apply_sizes(*this, *given.sizes, named, all); !applied) return applied;
  } else {
    for (std::size_t k = 0; k < count; ++k) {
      resized_axis& a = all[named[k]];
      a.scale = given.scales[k];
      const float size = a.scale * float(a.in);  // truncated from float, as in ONNX Runtime: 2.6 times 5 is 13
      if (status s = check_fits("Y", size < 9e18f); !s) return s;
      a.out = std::int64_t(size), a.length = size;
    }
  }
  if (status read = read_region(c, *this, named, all); !read) return read;
  extents shape;
  for (std::size_t i = 0; i < rank; ++i) {
    shape.push_back(all[i].out);
    if (given.sizes) all[i].length = float(all[i].out);
  }
  const result<value*> y = c.output(0, shape);
  if (!y) return y.error();
  if (shape.count() == 0) return {};
  if (shape == x.shape) return copy_bytes(c, (*y)->data, x.data, x.bytes()), status{};  // even if there is a region
  const std::span<const resized_axis> done{all, rank};
  if (mode == interpolation::nearest) return move_nearest(c, *this, x, **y, done);
  if (!(detail::bit_of(x.type) & number_elements::mask))
    return refuse(status_code::not_implemented, "weighted means of ", x.type, "; mode nearest takes it");
  return number_elements::visit(x.type, status{},
                                [&]<class T>(std::type_identity<T>) { return interpolate<T>(c, *this, x, **y, done); });
}

}  // namespace CAMEO_NAMESPACE::eps
