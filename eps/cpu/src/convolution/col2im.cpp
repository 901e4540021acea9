#include <cameo/eps/cpu/col2im.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "operands/operand_values.hpp"

#include <algorithm>
#include <utility>

namespace CAMEO_NAMESPACE::eps {
namespace {

struct block_axis {
  std::int64_t image, block, blocks, stride, dilation, pad;
};

template <class T>
T added(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) return a || b;
  else if constexpr (std::is_integral_v<T>) return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
  else if constexpr (is_narrow_float<T>) return T(float(a) + float(b));
  else if constexpr (std::is_floating_point_v<T>) return a + b;
  else return T{a.re + b.re, a.im + b.im};
}

/// Calls f(block, place) for each block whose element `tap` lies inside the image: the index of the block, and the
/// index of the element in the image.
template <class F>
void each_place(std::span<const block_axis> axes, std::int64_t tap, F&& f) {
  std::int64_t start[max_rank] = {}, index[max_rank] = {}, step[max_rank] = {}, blocks = 1, elements = 1;
  for (std::size_t i = axes.size(); i-- > 0; tap /= axes[i].block) {
    start[i] = tap % axes[i].block * axes[i].dilation - axes[i].pad;
    step[i] = elements, elements *= axes[i].image, blocks *= axes[i].blocks;
  }
  for (std::int64_t b = 0; b < blocks; ++b) {
    std::int64_t place = 0;
    bool inside = true;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::int64_t at = start[i] + index[i] * axes[i].stride;
      inside = inside && at >= 0 && at < axes[i].image;
      place += inside ? at * step[i] : 0;
    }
    if (inside) f(b, place);
    for (std::size_t i = axes.size(); i-- > 0 && ++index[i] == axes[i].blocks;) index[i] = 0;
  }
}

/// The sizes of all planes; a plane is a channel of an image.
struct planes {
  std::span<const block_axis> axes;
  std::int64_t count, taps, blocks, pixels;

  /// Calls f(index in X, index in Y) for all elements of a plane.
  template <class F>
  void each_element(std::int64_t plane, F&& f) const {
    for (std::int64_t tap = 0; tap < taps; ++tap)
      each_place(axes, tap, [&](std::int64_t block, std::int64_t place) {
        f((plane * taps + tap) * blocks + block, plane * pixels + place);
      });
  }
};

/// Strings are added by concatenation, in the order of a block's elements, as numpy does it.
status join_texts(run_context& c, const planes& p, const std::string_view* x, std::string_view* y) {
  const auto count = std::size_t(p.count * p.pixels);
  const result<std::span<std::size_t>> sizes = c.scratch<std::size_t>(count);
  if (!sizes) return sizes.error();
  std::ranges::fill(*sizes, std::size_t{0});
  std::size_t all = 0;
  bool fits = true;
  for (std::int64_t plane = 0; plane < p.count; ++plane)
    p.each_element(plane, [&](std::int64_t from, std::int64_t to) {
      fits = fits && checked_add(all, x[from].size(), all);
      if (fits) (*sizes)[std::size_t(to)] += x[from].size();
    });
  if (!fits) return status_code::out_of_memory;
  const result<std::span<char>> text = c.text(all);
  if (!text) return text.error();
  std::size_t end = 0;  // from here on, sizes become the offsets to which the next string is written
  for (std::size_t i = 0; i < count; ++i) {
    y[i] = {text->data() + end, (*sizes)[i]};
    end += std::exchange((*sizes)[i], end);
  }
  for (std::int64_t plane = 0; plane < p.count; ++plane)
    p.each_element(plane, [&](std::int64_t from, std::int64_t to) {
      std::size_t& at = (*sizes)[std::size_t(to)];
      at += x[from].copy(text->data() + at, x[from].size());
    });
  return {};
}

/// Computes the axes of the blocks in the image; INVALID_ARGUMENT if they do not fit.
status place_blocks(const col2im& how, const extents& image, const extents& block, std::span<block_axis> axes) {
  const std::size_t rank = image.rank();
  constexpr std::int64_t most = std::int64_t{1} << 40;
  const auto check_list = [](std::string_view name, std::span<const std::int64_t> list, std::size_t count) {
    return check_count(name, std::int64_t(list.empty() ? count : list.size()), std::int64_t(count));
  };
  if (status s = check_list("dilations", how.dilations, rank); !s) return s;
  if (status s = check_list("strides", how.strides, rank); !s) return s;
  if (status s = check_list("pads", how.pads, 2 * rank); !s) return s;
  for (std::size_t i = 0; i < rank; ++i) {
    if (status s = check_element("image_shape", image[i], 0, most); !s) return s;
    if (status s = check_element("block_shape", block[i], 1, most); !s) return s;
    block_axis& a = axes[i];
    a = {
        image[i], block[i], 0, number_or(how.strides, i, 1), number_or(how.dilations, i, 1), number_or(how.pads, i, 0)};
    std::int64_t reach = 0;
    if (status s = check_fits("block_shape", checked_multiply(a.block - 1, a.dilation, reach)); !s) return s;
    const std::int64_t space = a.image + a.pad + number_or(how.pads, i + rank, 0) - reach - 1;
    a.blocks = space < 0 ? 0 : space / a.stride + 1;
  }
  return {};
}

}  // namespace

result<col2im> col2im::bind(bind_context& c) {
  const attributes_of<op::Col2Im> a{c.attributes};
  return col2im{a.dilations, a.pads, a.strides};
}

status col2im::run(run_context& c) const {
  const value& x = c.input(0);
  extents image, block;
  if (status read = read_extents(c.input(1), "image_shape", image); !read) return read;
  if (status read = read_extents(c.input(2), "block_shape", block); !read) return read;
  const std::size_t rank = image.rank();
  if (status s = check_number("the number of axes of image_shape", std::int64_t(rank), 1, max_rank - 2); !s) return s;
  if (status s = check_count("block_shape", std::int64_t(block.rank()), std::int64_t(rank)); !s) return s;
  block_axis all[max_rank] = {};
  const std::span<block_axis> axes{all, rank};
  if (status fits = place_blocks(*this, image, block, axes); !fits) return fits;
  extents counts;
  for (const block_axis& a : axes) counts.push_back(a.blocks);
  std::int64_t taps = 0, blocks = 0;
  if (!block.checked_count(taps) || !counts.checked_count(blocks) || x.shape[1] % taps != 0 || x.shape[2] != blocks)
    return bad_input("input has shape ", x.shape, ", must be [N, C * elements of block ", block, ", blocks ", counts,
                     "]");
  const std::int64_t channels = x.shape[1] / taps;
  extents shape{x.shape[0], channels};
  for (std::int64_t size : image) shape.push_back(size);
  const result<value*> y = c.output(0, shape);
  if (!y) return y.error();
  if (shape.count() == 0) return {};
  const planes p{axes, x.shape[0] * channels, taps, blocks, image.count()};
  if (x.type == dtype::string)
    return join_texts(c, p, static_cast<const std::string_view*>(x.data), static_cast<std::string_view*>((*y)->data));
  summed_elements::call(x.type, [&]<class T>(std::type_identity<T>) {
    const T* const from = static_cast<const T*>(x.data);
    T* const to = static_cast<T*>((*y)->data);
    c.parallel(std::size_t(p.count), [&](std::size_t plane) {
      std::fill_n(to + std::int64_t(plane) * p.pixels, p.pixels, T{});
      p.each_element(std::int64_t(plane), [&](std::int64_t i, std::int64_t j) { to[j] = added(to[j], from[i]); });
    });
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
