#include <cameo/eps/cpu/conv_transpose.hpp>
#include <cameo/eps/cpu/detail/float_product.hpp>
#include <cameo/geometry/conv.hpp>
#include <cameo/op/read_window.hpp>

#include "operands/refuse.hpp"
#include "skeletons/row_list.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The sizes of one call. `w` is the window of the convolution whose gradient this is: that convolution reads Y and
/// writes X.
struct transposed_sizes {
  std::int64_t images, groups, channels, rows;  // channels and rows: of X and of Y, in a group
  placed_window w;
  std::int64_t taps, pixels, outputs;  // pixels and outputs: elements of a channel of X and of Y
};

template <class T>
result<transposed_sizes> sizes_of(const conv_transpose<T>& k, run_context& c) {
  const extents &x = c.input(0).shape, &w = c.input(1).shape;
  const result<geometry::conv> made = geometry::conv_transpose_of<std::int64_t>(
      k.shape, k.groups, x, w, geometry::shape_of(c.input(k.bias_input)), k.output_padding, k.output_shape);
  if (!made) return made.error();
  const placed_window& placed = made->window;
  return transposed_sizes{x[0],   k.groups,      made->channels,     w[1],
                          placed, placed.taps(), placed.out_count(), placed.in_count()};
}

/// Adds the products of one tap of the window, one per element of a channel of X, to the channel of Y.
template <class T>
void add_tap(const placed_window& w, std::int64_t tap, const T* products, T* y) {
  const window_axis& line = w.axes[w.rank - 1];
  const std::int64_t k = tap % line.kernel;
  const window_axis::range range = line.outputs_of(k);
  std::int64_t taps[max_spatial], lines = 1;
  tap /= line.kernel;
  for (std::size_t i = w.rank - 1; i-- > 0; tap /= w.axes[i].kernel)
    taps[i] = tap % w.axes[i].kernel, lines *= w.axes[i].out;
  for (std::int64_t l = 0; l < lines; ++l) {
    std::int64_t rest = l, at = 0, scale = 1;
    bool inside = range.begin < range.end;
    for (std::size_t i = w.rank - 1; i-- > 0 && inside; rest /= w.axes[i].out) {
      const window_axis& a = w.axes[i];
      const std::int64_t p = rest % a.out * a.stride - a.pad_begin + taps[i] * a.dilation;
      inside = p >= 0 && p < a.in;
      at += p * scale, scale *= a.in;
    }
    if (!inside) continue;
    T* const to = y + (at * line.in + range.begin * line.stride - line.pad_begin + k * line.dilation);
    const T* const from = products + l * line.out + range.begin;
    for (std::int64_t o = 0; o < range.end - range.begin; ++o) to[o * line.stride] += from[o];
  }
}

/// The products [rows * taps, pixels] of a round of images, and the offsets of their factors.
template <class T>
struct round_memory {
  std::span<T> products;
  std::span<std::int64_t> w_offsets, x_offsets;
  std::int64_t images = 0, of_image = 0;
};

template <class T>
result<round_memory<T>> memory_of(run_context& c, const transposed_sizes& s) {
  round_memory<T> m;
  std::int64_t size = 0;
  if (!checked_multiply(s.groups * s.rows, s.taps, size) || !checked_multiply(size, s.pixels, m.of_image))
    return status_code::out_of_memory;
  const std::int64_t fit = (std::int64_t{1} << 26) / std::int64_t(sizeof(T)) / std::max<std::int64_t>(1, m.of_image);
  m.images = std::clamp<std::int64_t>(fit, 1, s.images);
  if (!checked_multiply(m.images, m.of_image, size)) return status_code::out_of_memory;
  result<std::span<T>> products = c.scratch<T>(std::size_t(size));
  if (!products) return products.error();
  m.products = *products;
  for (std::span<std::int64_t>* offsets : {&m.w_offsets, &m.x_offsets}) {
    result<std::span<std::int64_t>> made = c.scratch<std::int64_t>(std::size_t(m.images * s.groups));
    if (!made) return made.error();
    *offsets = *made;
  }
  for (std::int64_t i = 0; i < m.images * s.groups; ++i) {
    m.w_offsets[std::size_t(i)] = i % s.groups * s.channels * s.rows * s.taps;
    m.x_offsets[std::size_t(i)] = i * s.channels * s.pixels;
  }
  return m;
}

/// Computes the products of a round of images.
template <class T, class X>
status multiply_round(run_context& c, const transposed_sizes& s, const round_memory<T>& m, const X* x,
                      const number_source<T, elements_like<X>>& w, std::int64_t images) {
  const std::int64_t rows = s.rows * s.taps, count = images * s.groups;
  gemm_problem<T, X> p{rows, s.pixels, s.channels, {}, {}, nullptr, m.products.data()};
  p.a = {w, 1, rows}, p.b = {x, s.pixels, 1};
  if (count > 1)
    p.a_offsets = m.w_offsets.first(std::size_t(count)), p.b_offsets = m.x_offsets.first(std::size_t(count));
  return multiply(c, p);
}

/// Computes the sums of the images [first, first + images) from their products.
template <class T>
void add_round(run_context& c, const transposed_sizes& s, const round_memory<T>& m, const T* bias,
               const row_rooms<T>& y, std::int64_t first, std::int64_t images) {
  const std::int64_t planes = images * s.groups * s.rows;
  parallel_rows(c, planes, std::max<std::int64_t>(1, (1 << 15) / std::max<std::int64_t>(1, s.taps * s.pixels)),
                [&](std::int64_t a, std::int64_t b, std::size_t lane) {
                  for (std::int64_t i = a; i < b; ++i) {
                    const std::int64_t at = (first * s.groups * s.rows + i) * s.outputs;
                    T* const plane = y.room(lane, at);
                    std::fill_n(plane, s.outputs, bias ? bias[i % (s.groups * s.rows)] : T(0));
                    for (std::int64_t t = 0; t < s.taps; ++t)
                      add_tap(s.w, t, m.products.data() + (i * s.taps + t) * s.pixels, plane);
                    y.store(lane, at, s.outputs);
                  }
                });
}

}  // namespace

template <class T>
result<conv_transpose<T>> conv_transpose<T>::bind(bind_context& c) {
  const attributes_of<op::ConvTranspose> a{c.attributes};
  return conv_transpose{detail::window_of(a), a.group, a.output_padding, a.output_shape};
}

template <class T>
status conv_transpose<T>::run(run_context& c) const {
  result<transposed_sizes> s = sizes_of(*this, c);
  if (!s) return s.error();
  extents y_shape{s->images, s->groups * s->rows};
  for (std::size_t i = 0; i < s->w.rank; ++i) y_shape.push_back(s->w.axes[i].in);
  const result<value*> out = c.output(0, y_shape);
  if (!out) return out.error();
  if (y_shape.count() == 0) return {};
  const result<row_rooms<number>> y = row_rooms<number>::make(c, **out, 1, s->outputs);
  if (!y) return y.error();
  const value& x = c.input(0);
  const auto w = number_source<number, elements_like<T>>::make(static_cast<const T*>(c.input(1).data));
  const result<const number*> bias = wide_vector<number>(c, c.input(bias_input));
  if (!bias) return status_code::out_of_memory;
  result<round_memory<number>> memory = memory_of<number>(c, *s);
  if (!memory) return memory.error();
  const std::int64_t of_image = s->groups * s->channels * s->pixels;
  for (std::int64_t first = 0; first < s->images; first += memory->images) {
    if (c.stopped()) return status_code::canceled;
    const std::int64_t images = std::min(memory->images, s->images - first);
    const T* const given = static_cast<const T*>(x.data) + first * of_image;
    if (status done = multiply_round<number>(c, *s, *memory, given, w, images); !done) return done;
    add_round<number>(c, *s, *memory, *bias, *y, first, images);
  }
  return {};
}

result<conv_transpose_with_dynamic_pads> conv_transpose_with_dynamic_pads::bind(bind_context& c) {
  result<conv_transpose<float>> made = conv_transpose<float>::bind(c);
  if (!made) return made.error();
  made->bias_input = 3;
  return conv_transpose_with_dynamic_pads{*made};
}

status conv_transpose_with_dynamic_pads::run(run_context& c) const {
  const value& pads = c.input(2);
  const std::size_t rank = c.input(0).shape.rank();
  if (!pads) return how.run(c);
  const std::span<const std::int64_t> given = pads.as_unchecked<std::int64_t>().span();
  if (status s = check_count("Pads", std::int64_t(given.size()), 2 * std::int64_t(rank - 2)); !s) return s;
  for (const std::int64_t pad : given)
    if (status s = check_element("Pads", pad, 0, std::int64_t{1} << 40); !s) return s;
  conv_transpose<float> padded = how;
  padded.shape.pads = given;
  // As in ONNX Runtime, VALID means that there is no attribute with pads.
  if (padded.shape.pad == geometry::padding::valid) padded.shape.pad = geometry::padding::given;
  return padded.run(c);
}

template struct bound_kernels<float_elements, conv_transpose>;

}  // namespace CAMEO_NAMESPACE::eps
