#include <cameo/eps/cpu/fourier.hpp>
#include <cameo/geometry/axes.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "fourier_transform.hpp"
#include "machine/lane_scratch.hpp"
#include "operands/operand_values.hpp"
#include "operands/usable_sizes.hpp"
#include "skeletons/row_rooms.hpp"

#include <optional>

namespace CAMEO_NAMESPACE::eps {
namespace {

using number = fourier_transform::number;

/// Reads a positive number.
status read_length(const value& v, std::string_view name, std::int64_t& out) {
  if (status read = read_integer(v, name, out); !read) return read;
  return check_at_least(name, out, 1);
}

/// The longest transform that is made while binding. Longer ones are made in each run: in a plan they would take
/// megabytes, and such a run takes long anyway.
constexpr std::int64_t longest_planned = 1 << 16;

/// Makes the transform of a length that is known while binding, in memory that lives as long as the plan; null if the
/// length is unknown (below 1) or too large.
result<const fourier_transform*> plan_transform(bind_context& c, std::int64_t length) {
  const fourier_transform* none = nullptr;
  if (length < 1 || length > longest_planned) return none;
  const auto made = fourier_transform::make(length, [&](std::size_t count) { return c.keep<number>(count); });
  if (!made) return made.error();
  const fourier_transform* const kept = c.state.keep(*made);
  if (!kept) return status_code::out_of_memory;
  return kept;
}
/// The planned transform, if it has this length; else makes one in scratch memory.
result<fourier_transform> transform_of(run_context& c, const fourier_transform* planned, std::int64_t length) {
  if (planned && planned->length() == length) return *planned;
  return fourier_transform::make(length, [&](std::size_t count) { return c.scratch<number>(count); });
}

/// The value of input `i`, if it is a constant of one number.
std::optional<std::int64_t> known_number(bind_context& c, std::size_t i) {
  const value* const v = c.constant(i);
  std::int64_t number = 0;
  if (!v || v->shape.count() != 1 || !integer_at(*v, 0, number)) return std::nullopt;
  return number;
}
/// The size of an input along an axis; -1 if unknown.
std::int64_t known_size(bind_context& c, std::size_t i, std::int64_t axis) {
  if (!c.has_input(i) || !c.inputs[i].has_rank || !normalize_axis(axis, c.inputs[i].shape.rank())) return -1;
  return c.inputs[i].shape[std::size_t(axis)];
}

/// Memory for one transform per worker: a signal, followed by the scratch memory of its transform.
result<lane_scratch<number>> signals_for(run_context& c, const fourier_transform& f) {
  return lane_scratch<number>::make(c, std::size_t(f.length() + f.scratch()));
}

/// Loads n real (parts 1) or complex (parts 2) numbers of a tensor, which are `step` numbers apart, as complex numbers.
/// Real ones are loaded into the second half of `to`, and expanded from there.
void load_numbers(const value& v, std::int64_t first, std::int64_t step, std::int64_t parts, number* to,
                  std::int64_t n) {
  auto* const flat = reinterpret_cast<double*>(to);
  double* const loaded = parts == 2 ? flat : flat + n;
  if (step == 1) load_floats(v, first, loaded, n * parts);
  else gather_floats(v, first, step * parts, parts, loaded, n);
  for (std::int64_t i = 0; parts == 1 && i < n; ++i) to[i] = {flat[n + i], 0};
}
/// Stores complex numbers, or their real parts; `from` is overwritten.
void save_numbers(number* from, const value& v, std::int64_t first, std::int64_t step, std::int64_t parts,
                  std::int64_t n) {
  auto* const flat = reinterpret_cast<double*>(from);
  for (std::int64_t i = 0; parts == 1 && i < n; ++i) flat[i] = flat[2 * i];
  if (step == 1) save_floats(flat, v, first, n * parts);
  else scatter_floats(flat, v, first, step * parts, parts, n);
}

/// Writes the triangular filters of all bins: filter i begins at edges[i], has its peak at edges[i + 1], and ends at
/// edges[i + 2].
template <class T>
void draw_triangles(T* y, std::int64_t bins, const std::int64_t* edges) {
  for (std::int64_t i = 0; i < bins; ++i) {
    const std::int64_t low = edges[i], center = edges[i + 1], high = edges[i + 2];
    if (center == low) y[center * bins + i] = as_element<T>(1.0);
    for (std::int64_t j = low; center != low && j <= center; ++j)
      y[j * bins + i] = as_element<T>(double(j - low) / double(center - low));
    for (std::int64_t j = center; j < high; ++j)
      y[j * bins + i] = as_element<T>(double(high - j) / double(high - center));
  }
}

/// Completes a spectrum of real numbers of which the first half is there: the other half is the conjugate of the first
/// in reverse, and the ends are real.
void mirror(number* signal, std::int64_t length) {
  signal[0].im = 0;
  if (length % 2 == 0) signal[length / 2].im = 0;
  for (std::int64_t i = length / 2 + 1; i < length; ++i) signal[i] = {signal[length - i].re, -signal[length - i].im};
}

/// Reads the axis and the length of a transform.
status read_transform(const dft& how, const run_context& c, std::size_t& at, std::int64_t& length) {
  const extents& shape = c.input(0).shape;
  std::int64_t axis = how.axis;
  if (how.axis_is_input && c.input(2))
    if (status read = read_integer(c.input(2), "axis", axis); !read) return read;
  const auto found = geometry::axis_of<std::int64_t>(axis, shape.rank(), "axis");
  if (!found) return found.error();
  at = *found;
  if (status s = check_number("axis", std::int64_t(at), 0, std::int64_t(shape.rank()) - 2); !s) return s;
  if (status s = usable_sizes("input", shape); !s) return s;
  if (c.input(1)) return read_length(c.input(1), "dft_length", length);
  length = how.inverse && how.onesided ? 2 * (shape[at] - 1) : shape[at];
  return check_least_count("a signal", length, 1);
}

status read_frequency(const value& v, std::string_view name, double& out) {
  convert_floats(v.type, v.data, &out, 1);
  if (!(out >= 0 && out < 1e9)) return bad_input(name, " must be a frequency, not negative");
  return {};
}

}  // namespace

result<dft> dft::bind(bind_context& c) {
  const attributes_of<op::DFT> a{c.attributes};
  dft made{c.since >= 20 ? -2 : a.axis, a.inverse != 0, a.onesided != 0, c.since >= 20};
  std::int64_t length = -1;
  if (c.has_input(1)) {
    length = known_number(c, 1).value_or(-1);
  } else if (const auto along = made.axis_is_input && c.has_input(2) ? known_number(c, 2) : made.axis; along) {
    length = known_size(c, 0, *along);
    if (made.inverse && made.onesided && length > 0) length = length > longest_planned ? -1 : 2 * (length - 1);
  }
  const auto planned = plan_transform(c, length);
  if (!planned) return planned.error();
  made.planned = *planned;
  return made;
}

status dft::run(run_context& c) const {
  const value& x = c.input(0);
  const std::size_t rank = x.shape.rank();
  std::size_t at = 0;
  std::int64_t length = 0;
  if (status read = read_transform(*this, c, at, length); !read) return read;
  if (status s = check_needs("onesided", !inverse && onesided, "real numbers", x.shape.back() == 1); !s) return s;
  extents shape = x.shape;
  shape[at] = onesided && !inverse ? length / 2 + 1 : length;
  shape[rank - 1] = onesided && inverse ? 1 : 2;
  const result<value*> y = c.output(0, shape);
  if (!y) return y.error();
  if (shape.count() == 0) return {};
  const auto transform = transform_of(c, planned, length);
  if (!transform) return transform.error();
  const auto signals = signals_for(c, *transform);
  if (!signals) return signals.error();
  const std::int64_t inner = x.shape.count(at + 1, rank - 1), parts = x.shape.back(), parts_out = shape[rank - 1];
  const std::int64_t in = x.shape[at], out = shape[at], used = std::min(in, length);
  c.parallel_lanes(std::size_t(x.shape.count(0, at) * inner), [&](std::size_t row, std::size_t lane) {
    const std::int64_t outer = std::int64_t(row) / inner, column = std::int64_t(row) % inner;
    number* const signal = signals->at(lane);
    load_numbers(x, (outer * in * inner + column) * parts, inner, parts, signal, used);
    std::fill_n(signal + used, length - used, number{0, 0});
    if (inverse && onesided) mirror(signal, length);
    if (inverse) transform->inverse(signal, signal + length);
    else transform->forward(signal, signal + length);
    save_numbers(signal, **y, (outer * out * inner + column) * parts_out, inner, parts_out, out);
  });
  return {};
}

result<stft> stft::bind(bind_context& c) {
  std::int64_t length = known_size(c, 0, 1);
  if (c.has_input(3)) length = known_number(c, 3).value_or(-1);
  else if (c.has_input(2)) length = known_size(c, 2, 0);
  const bool onesided = attributes_of<op::STFT>{c.attributes}.onesided != 0;
  return plan_transform(c, length).transform([&](const fourier_transform* made) { return stft{onesided, made}; });
}

status stft::run(run_context& c) const {
  const value &x = c.input(0), &window = c.input(2);
  const std::size_t rank = x.shape.rank();
  const std::int64_t parts = rank == 3 ? x.shape[2] : 1;
  if (status s = usable_sizes("signal", x.shape); !s) return s;
  std::int64_t step = 0, length = x.shape[1];
  if (status read = read_length(c.input(1), "frame_step", step); !read) return read;
  if (window) length = window.shape[0];
  if (c.input(3))
    if (status read = read_length(c.input(3), "frame_length", length); !read) return read;
  if (window)
    if (status s = check_count("window", window.shape[0], length); !s) return s;
  if (status s = check_number("frame_length", length, 1, x.shape[1]); !s) return s;
  const std::int64_t frames = (x.shape[1] - length) / step + 1, kept = onesided ? length / 2 + 1 : length;
  const result<value*> y = c.output(0, extents{x.shape[0], frames, kept, 2});
  if (!y) return y.error();
  if ((*y)->shape.count() == 0) return {};
  const result<const double*> weights = wide_vector<double>(c, window);
  const auto transform = transform_of(c, planned, length);
  if (!weights || !transform) return status_code::out_of_memory;
  const auto signals = signals_for(c, *transform);
  if (!signals) return signals.error();
  c.parallel_lanes(std::size_t(x.shape[0] * frames), [&](std::size_t row, std::size_t lane) {
    const std::int64_t batch = std::int64_t(row) / frames, frame = std::int64_t(row) % frames;
    number* const signal = signals->at(lane);
    load_numbers(x, (batch * x.shape[1] + frame * step) * parts, 1, parts, signal, length);
    for (std::int64_t i = 0; *weights && i < length; ++i)
      signal[i] = {signal[i].re * (*weights)[i], parts == 2 ? signal[i].im * (*weights)[i] : 0};
    transform->forward(signal, signal + length);
    save_numbers(signal, **y, std::int64_t(row) * kept * 2, 1, 2, kept);
  });
  return {};
}

status mel_weight_matrix::run(run_context& c) const {
  std::int64_t bins = 0, length = 0, rate = 0;
  double lowest = 0, highest = 0;
  if (status read = read_length(c.input(0), "num_mel_bins", bins); !read) return read;
  if (status read = read_length(c.input(1), "dft_length", length); !read) return read;
  if (status read = read_length(c.input(2), "sample_rate", rate); !read) return read;
  if (status read = read_frequency(c.input(3), "lower_edge_hertz", lowest); !read) return read;
  if (status read = read_frequency(c.input(4), "upper_edge_hertz", highest); !read) return read;
  if (highest < lowest) return bad_input("upper_edge_hertz must not be below lower_edge_hertz");
  const std::int64_t rows = length / 2 + 1;
  const result<value*> y = c.output(0, extents{rows, bins});
  if (!y) return y.error();
  const auto edges = c.scratch<std::int64_t>(std::size_t(bins) + 2);
  if (!edges) return edges.error();
  const double low = 2595 * std::log1p(lowest / 700) / std::numbers::ln10;
  const double high = 2595 * std::log1p(highest / 700) / std::numbers::ln10, step = (high - low) / double(bins + 2);
  for (std::int64_t i = 0; i < bins + 2; ++i) {
    const double hertz = 700 * std::expm1((double(i) * step + low) / 2595 * std::numbers::ln10);
    const double place = std::floor((double(length) + 1) * hertz / double(rate));
    if (!(place >= 0 && place < double(rows)))
      return bad_input("frequencies up to upper_edge_hertz don't fit into ", rows,
                       " lines of a spectrum at sample_rate ", rate);
    (*edges)[std::size_t(i)] = std::int64_t(place);
  }
  elements::call((*y)->type, [&]<class T>(std::type_identity<T>) {
    T* const to = static_cast<T*>((*y)->data);
    std::fill_n(to, rows * bins, T{});
    draw_triangles(to, bins, edges->data());
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
