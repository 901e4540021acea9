#include <cameo/eps/cpu/resize.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include "operand_values.hpp"
#include "strided_copy.hpp"
#include "usable_sizes.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

/// One axis of a run.
struct resized_axis {
  std::int64_t in = 0, out = 0;
  double scale = 1, start = 0, end = 1;  // the last two: the region of tf_crop_and_resize
  bool changes = false;
};

constexpr std::int64_t extrapolated = std::numeric_limits<std::int64_t>::min();

/// Where element `at` of the output lies in the input; halves are element borders.
double source_of(const resized_axis& a, resize::coordinates space, std::int64_t at) {
  using enum resize::coordinates;
  const double x = double(at), width = a.scale * double(a.in), last = double(a.in) - 1;
  switch (space) {
    case align_corners: return width == 1 ? 0 : x * last / (width - 1);
    case asymmetric: return x / a.scale;
    case tf_half_pixel_for_nn: return (x + 0.5) / a.scale;
    case pytorch_half_pixel: return width == 1 ? -0.5 : (x + 0.5) / a.scale - 0.5;
    case half_pixel_symmetric: return double(a.in) / 2 * (1 - double(a.out) / width) + (x + 0.5) / a.scale - 0.5;
    case tf_crop_and_resize:
      return a.start * last + (width == 1 ? (a.end - a.start) * last / 2 : x * (a.end - a.start) * last / (width - 1));
    default: return (x + 0.5) / a.scale - 0.5;
  }
}
bool is_outside(const resized_axis& a, resize::coordinates space, double x) {
  return space == resize::coordinates::tf_crop_and_resize && !(x >= 0 && x <= double(a.in) - 1);
}
/// Into a range where it can become an integer; what is beyond looks the same as the border.
double tamed(double x, std::int64_t in, std::int64_t taps) {
  const double room = double(in) + 2 * double(taps) + 4;
  return x >= -room ? std::min(x, room) : -room;
}

std::int64_t nearest_of(double x, const resized_axis& a, resize::rounding how) {
  const double wide = tamed(x, a.in, 1);
  double to = 0;
  switch (how) {
    case resize::rounding::prefer_floor: to = std::ceil(wide - 0.5); break;
    case resize::rounding::prefer_ceil: to = std::floor(wide + 0.5); break;
    case resize::rounding::floor: to = std::floor(wide); break;
    case resize::rounding::ceil: to = std::ceil(wide); break;
    case resize::rounding::simple: to = a.scale < 1 ? std::ceil(wide) : std::floor(wide); break;
  }
  return std::clamp<std::int64_t>(std::int64_t(to), 0, a.in - 1);
}

double cubic_weight(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Neighbours that count for each output, an even number.
std::int64_t taps_of(const resize& r, const resized_axis& a) {
  const std::int64_t reach = r.mode == resize::interpolation::cubic ? 2 : 1;
  if (!r.antialias || a.scale >= 1) return 2 * reach;
  return 2 * std::int64_t(std::ceil(double(reach) / a.scale));
}

/// The first neighbour and the weights of one output.
std::int64_t weigh(const resize& r, const resized_axis& a, std::int64_t at, std::int64_t taps, double* weights) {
  const double x = source_of(a, r.space, at);
  if (is_outside(a, r.space, x)) return extrapolated;
  const double wide = tamed(x, a.in, taps), left = std::ceil(wide) - 1;  // the neighbour strictly to the left
  const std::int64_t first = std::int64_t(left) - taps / 2 + 1;
  const double shrink = r.antialias ? std::min(a.scale, 1.0) : 1;
  double sum = 0;
  for (std::int64_t k = 0; k < taps; ++k) {
    const double distance = (double(first + k) - wide) * shrink;
    weights[k] = r.mode == resize::interpolation::cubic ? cubic_weight(distance, double(r.cubic_a))
                                                        : std::max(0.0, 1 - std::abs(distance));
    if (r.exclude_outside && (first + k < 0 || first + k >= a.in)) weights[k] = 0;
    sum += weights[k];
  }
  if ((r.antialias || r.exclude_outside) && sum != 0)
    for (std::int64_t k = 0; k < taps; ++k) weights[k] /= sum;
  return first;
}

/// How linear and cubic weigh along one axis.
struct weight_table {
  std::int64_t taps = 0;
  const std::int64_t* first = nullptr;
  const double* weights = nullptr;
};
result<weight_table> make_table(run_context& c, const resize& r, const resized_axis& a) {
  const std::int64_t taps = taps_of(r, a);
  std::int64_t count = 0;
  if (!checked_multiply(taps, a.out, count)) return status_code::out_of_memory;
  const auto first = c.scratch<std::int64_t>(std::size_t(a.out));
  const auto weights = c.scratch<double>(std::size_t(count));
  if (!first || !weights) return status_code::out_of_memory;
  for (std::int64_t o = 0; o < a.out; ++o) (*first)[std::size_t(o)] = weigh(r, a, o, taps, weights->data() + o * taps);
  return weight_table{taps, first->data(), weights->data()};
}

/// One axis: x [outer, in, inner] to y [outer, out, inner].
template <class C>
void resize_axis(run_context& c, const C* x, C* y, std::int64_t outer, std::int64_t inner, const resized_axis& a,
                 const weight_table& table, C outside) {
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, inner * table.taps));
  parallel_for(c, outer * a.out, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t o = row % a.out, first = table.first[o];
      C* const to = y + row * inner;
      std::fill_n(to, inner, first == extrapolated ? outside : C(0));
      if (first == extrapolated) continue;
      for (std::int64_t k = 0; k < table.taps; ++k) {
        const C w = C(table.weights[o * table.taps + k]);
        if (w == C(0)) continue;
        const C* const from = x + (row / a.out * a.in + std::clamp<std::int64_t>(first + k, 0, a.in - 1)) * inner;
        for (std::int64_t i = 0; i < inner; ++i) to[i] += w * from[i];
      }
    }
  });
}

template <class T, class C>
T rounded_to(C v) {
  if constexpr (std::is_integral_v<T>) {
    const double x = std::nearbyint(double(v));
    if (std::isnan(x)) return T(0);
    if (x <= double(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    if (x >= double(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return T(x);
  } else if constexpr (std::is_floating_point_v<T>) {
    return T(v);
  } else {
    return T(float(v));
  }
}

template <class T, class C>
status interpolate(run_context& c, const resize& r, const value& x, value& y, std::span<const resized_axis> axes) {
  std::int64_t most = x.shape.count();
  extents shape = x.shape;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    shape[i] = axes[i].out;
    std::int64_t count = 0;
    if (!shape.checked_count(count)) return status_code::out_of_memory;
    most = std::max(most, count);
  }
  const auto one = c.scratch<C>(std::size_t(most)), two = c.scratch<C>(std::size_t(most));
  if (!one || !two) return status_code::out_of_memory;
  C *from = one->data(), *to = two->data();
  const T* const in = static_cast<const T*>(x.data);
  for (std::int64_t i = 0; i < x.shape.count(); ++i) from[i] = C(widened(in[i]));
  shape = x.shape;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!axes[i].changes) continue;
    const result<weight_table> table = make_table(c, r, axes[i]);
    if (!table) return table.error();
    resize_axis<C>(c, from, to, shape.count(0, i), shape.count(i + 1, shape.rank()), axes[i], *table,
                   C(r.extrapolation));
    shape[i] = axes[i].out;
    std::swap(from, to);
  }
  T* const out = static_cast<T*>(y.data);
  for (std::int64_t i = 0; i < shape.count(); ++i) out[i] = rounded_to<T>(from[i]);
  return {};
}

status move_nearest(run_context& c, const resize& r, const value& x, value& y, std::span<const resized_axis> axes) {
  const std::size_t rank = axes.size(), bytes = element_bytes(x.type);
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
      const double place = axes[i].changes ? source_of(axes[i], r.space, o) : double(o);
      const bool outside = axes[i].changes && is_outside(axes[i], r.space, place);
      (*table)[at++] = outside ? extrapolated : nearest_of(place, axes[i], r.nearest) * strides[i];
    }
  }
  alignas(16) std::byte filler[16] = {};
  const status known = with_type(x.type, [&]<class T>(std::type_identity<T>) -> status {
    if constexpr (is_real_number<T> && !std::is_same_v<T, bool>) {
      const T number = rounded_to<T>(r.extrapolation);
      std::memcpy(filler, &number, sizeof number);
    }
    return {};
  });
  if (!known) return known;
  const std::int64_t length = rank ? y.shape[rank - 1] : 1, rows = y.shape.count() / length;
  parallel_for(c, rows, std::max<std::int64_t>(1, (1 << 14) / length), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      std::int64_t base = 0, rest = row;
      bool inside = true;
      for (std::size_t i = rank ? rank - 1 : 0; i-- > 0; rest /= y.shape[i]) {
        const std::int64_t s = source[i][rest % y.shape[i]];
        if (s == extrapolated) inside = false;
        else base += s;
      }
      std::byte* to = bytes_of(y) + std::size_t(row * length) * bytes;
      for (std::int64_t j = 0; j < length; ++j, to += bytes) {
        const std::int64_t s = rank ? source[rank - 1][j] : 0;
        const bool missing = !inside || s == extrapolated;
        move_block(to, missing ? filler : bytes_of(x) + std::size_t(base + s) * bytes, bytes);
      }
    }
  });
  return {};
}

/// What the scales or the sizes say, in order of the axes they are for.
struct amounts {
  std::span<const float> scales = {};
  const value* sizes = nullptr;
};
status read_amounts(const run_context& c, const resize& r, std::size_t count, amounts& out) {
  if (r.sizes_at >= 0 && c.has_input(std::size_t(r.sizes_at))) {
    const value& sizes = c.input(std::size_t(r.sizes_at));
    if (sizes && sizes.shape.count() > 0) out.sizes = &sizes;
  }
  if (out.sizes) {
    if (out.sizes->shape.count() != std::int64_t(count))
      return bad_input("sizes has ", out.sizes->shape.count(), " elements; it needs ", count, ", one for each axis");
    return {};
  }
  out.scales = r.scales;
  if (r.scales_at >= 0) {
    const value& scales = c.input(std::size_t(r.scales_at));
    if (scales) out.scales = {static_cast<const float*>(scales.data), std::size_t(scales.shape.count())};
  }
  if (out.scales.size() != count)
    return bad_input("scales has ", out.scales.size(), " elements; it needs ", count,
                     ", one for each axis, unless there are sizes");
  for (float s : out.scales)
    if (!(s > 0 && s < 1e18f)) return bad_input("scales must be positive numbers");
  return {};
}

status apply_sizes(const resize& r, const value& sizes, std::span<const std::size_t> named, resized_axis* axes) {
  const integers all{sizes};
  double least = std::numeric_limits<double>::infinity(), largest = 0;
  for (std::size_t k = 0; k < named.size(); ++k) {
    resized_axis& a = axes[named[k]];
    a.out = all[std::int64_t(k)], a.changes = true;
    if (a.out < 0) return bad_input("size ", a.out, " of axis ", named[k], " is negative");
    if (a.in == 0 && a.out > 0) return bad_input("axis ", named[k], " is empty and can't become ", a.out, " long");
    a.scale = a.in > 0 ? double(a.out) / double(a.in) : 1;
    least = std::min(least, a.scale), largest = std::max(largest, a.scale);
  }
  if (r.keep_ratio == resize::policy::stretch) return {};
  const double scale = r.keep_ratio == resize::policy::not_larger ? least : largest;
  for (std::size_t i : named) {
    const double size = scale * double(axes[i].in) + 0.5;
    if (!(size < 9e18)) return bad_input("axis ", i, " would become too long");
    axes[i].scale = scale, axes[i].out = std::int64_t(size);
  }
  return {};
}

status read_region(const run_context& c, const resize& r, std::span<const std::size_t> named, resized_axis* axes) {
  if (r.space != resize::coordinates::tf_crop_and_resize) return {};
  const value& roi = c.input(std::size_t(r.roi_at));
  if (!roi || roi.shape.count() != 2 * std::int64_t(named.size()))
    return bad_input("tf_crop_and_resize needs a roi of ", 2 * named.size(), " numbers: starts, then ends");
  return with_type(roi.type, [&]<class T>(std::type_identity<T>) -> status {
    if constexpr (is_real_number<T>) {
      const T* const all = static_cast<const T*>(roi.data);
      for (std::size_t k = 0; k < named.size(); ++k) {
        resized_axis& a = axes[named[k]];
        a.start = double(widened(all[k])), a.end = double(widened(all[k + named.size()]));
      }
    }
    return {};
  });
}

template <class E>
struct named_choice {
  std::string_view name;
  E which;
};
template <class E, std::size_t N>
bool choose(std::string_view name, const named_choice<E> (&choices)[N], E& out) {
  for (const named_choice<E>& choice : choices)
    if (choice.name == name) return out = choice.which, true;
  return false;
}

status read_mode(const bind_context& c, resize& made) {
  const std::string_view mode = c.string_or("mode", "nearest");
  if (mode == "nearest") made.mode = resize::interpolation::nearest;
  else if (mode == "linear" || mode == "bilinear") made.mode = resize::interpolation::linear;
  else if (mode == "cubic" || mode == "bicubic") made.mode = resize::interpolation::cubic;
  else return bad_attribute("mode must be nearest, linear or cubic, not '", mode, "'");
  return {};
}

}  // namespace

result<resize> resize::bind(bind_context& c) {
  resize made;
  if (status read = read_mode(c, made); !read) return read;
  if (c.since == 10) return made.scales_at = 1, made;
  static constexpr named_choice<coordinates> spaces[] = {{"half_pixel", coordinates::half_pixel},
                                                         {"half_pixel_symmetric", coordinates::half_pixel_symmetric},
                                                         {"pytorch_half_pixel", coordinates::pytorch_half_pixel},
                                                         {"align_corners", coordinates::align_corners},
                                                         {"asymmetric", coordinates::asymmetric},
                                                         {"tf_half_pixel_for_nn", coordinates::tf_half_pixel_for_nn},
                                                         {"tf_crop_and_resize", coordinates::tf_crop_and_resize}};
  static constexpr named_choice<rounding> roundings[] = {{"round_prefer_floor", rounding::prefer_floor},
                                                         {"round_prefer_ceil", rounding::prefer_ceil},
                                                         {"floor", rounding::floor},
                                                         {"ceil", rounding::ceil}};
  static constexpr named_choice<policy> policies[] = {
      {"stretch", policy::stretch}, {"not_larger", policy::not_larger}, {"not_smaller", policy::not_smaller}};
  const std::string_view space = c.string_or("coordinate_transformation_mode", "half_pixel");
  if (!choose(space, spaces, made.space))
    return bad_attribute("coordinate_transformation_mode '", space,
                         "' is none of half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, "
                         "asymmetric, tf_half_pixel_for_nn, tf_crop_and_resize");
  const std::string_view nearest = c.string_or("nearest_mode", "round_prefer_floor");
  if (!choose(nearest, roundings, made.nearest))
    return bad_attribute("nearest_mode must be round_prefer_floor, round_prefer_ceil, floor or ceil, not '", nearest,
                         "'");
  const std::string_view ratio = c.string_or("keep_aspect_ratio_policy", "stretch");
  if (!choose(ratio, policies, made.keep_ratio))
    return bad_attribute("keep_aspect_ratio_policy must be stretch, not_larger or not_smaller, not '", ratio, "'");
  made.exclude_outside = c.int_or("exclude_outside", 0) != 0;
  made.antialias = c.int_or("antialias", 0) != 0;
  if (made.antialias && made.mode == interpolation::nearest)
    return bad_attribute("antialias goes with mode linear or cubic, not nearest");
  made.cubic_a = c.float_or("cubic_coeff_a", -0.75f);
  made.extrapolation = c.float_or("extrapolation_value", 0);
  made.has_axes = !c.ints_or("axes").empty();
  made.axes = c.ints_or("axes");
  if (made.axes.size() > max_rank) return bad_attribute("axes has more than ", max_rank, " elements");
  made.roi_at = 1, made.scales_at = 2, made.sizes_at = 3;
  return made;
}

result<resize> upsample::bind(bind_context& c) {
  resize made;
  if (status read = read_mode(c, made); !read) return read;
  if (c.since >= 9) return made.scales_at = 1, made;
  if (c.since == 7) return made.scales = c.floats_or("scales"), made;
  const result<std::span<float>> four = c.keep<float>(4);
  if (!four) return four.error();
  (*four)[0] = (*four)[1] = 1;
  (*four)[2] = c.float_or("height_scale", 1), (*four)[3] = c.float_or("width_scale", 1);
  made.scales = *four;
  return made;
}

status resize::run(run_context& c) const {
  const value& x = c.input(0);
  const std::size_t rank = x.shape.rank();
  resized_axis all[max_rank];
  std::size_t named[max_rank], count = has_axes ? axes.size() : rank;
  for (std::size_t i = 0; i < rank; ++i) all[i].in = all[i].out = x.shape[i];
  if (status s = usable_sizes("X", x.shape); !s) return s;
  bool seen[max_rank] = {};
  for (std::size_t k = 0; k < count; ++k) {
    std::int64_t axis = has_axes ? axes[k] : std::int64_t(k);
    if (!normalize_axis(axis, rank)) return no_such_axis(axes[k], rank);
    if (std::exchange(seen[axis], true)) return bad_input("axis ", axis, " stands twice in axes");
    named[k] = std::size_t(axis);
  }
  const std::span<const std::size_t> which{named, count};
  amounts given;
  if (status read = read_amounts(c, *this, count, given); !read) return read;
  if (given.sizes) {
    if (status applied = apply_sizes(*this, *given.sizes, which, all); !applied) return applied;
  } else {
    for (std::size_t k = 0; k < count; ++k) {
      resized_axis& a = all[named[k]];
      a.scale = double(given.scales[k]), a.changes = true;
      const double size = std::floor(a.scale * double(a.in));
      if (!(size < 9e18)) return bad_input("axis ", named[k], " would become too long");
      a.out = std::int64_t(size);
    }
  }
  if (status read = read_region(c, *this, which, all); !read) return read;
  extents shape;
  for (std::size_t i = 0; i < rank; ++i) {
    shape.push_back(all[i].out);
    const bool whole = space != coordinates::tf_crop_and_resize || (all[i].start == 0 && all[i].end == 1);
    if (all[i].scale == 1 && all[i].in == all[i].out && whole && space != coordinates::tf_half_pixel_for_nn)
      all[i].changes = false;
  }
  const result<value*> y = c.output(0, shape);
  if (!y) return y.error();
  if (shape.count() == 0) return {};
  const std::span<const resized_axis> done{all, rank};
  if (mode == interpolation::nearest) return move_nearest(c, *this, x, **y, done);
  return with_type(x.type, [&]<class T>(std::type_identity<T>) -> status {
    if constexpr (std::is_same_v<T, float> || is_narrow_float<T>) return interpolate<T, float>(c, *this, x, **y, done);
    else if constexpr (is_real_number<T> && !std::is_same_v<T, bool>)
      return interpolate<T, double>(c, *this, x, **y, done);
    else return refuse(status_code::not_implemented, "weighted means of ", dtype_of<T>, "; mode nearest takes it");
  });
}

}  // namespace cameo::inline CAMEO_ABI::eps
