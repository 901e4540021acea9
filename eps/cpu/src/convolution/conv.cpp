#include <cameo/eps/cpu/conv.hpp>
#include <cameo/eps/cpu/detail/as_number.hpp>
#include <cameo/eps/cpu/detail/float_product.hpp>
#include <cameo/geometry/conv.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/read_window.hpp>

#include <functional>
#include <utility>

#include "machine/lane_scratch.hpp"
#include "machine/work_split.hpp"
#include "microkernels/conv_kernels.hpp"
#include "operands/refuse.hpp"
#include "skeletons/row_list.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The sizes of one call. A group is a matrix product of its weights [rows, depth] and of patches [depth, pixels]. A
/// patch is the part of the input that one output depends on: `taps` positions of the window, in each of `channels`
/// channels. A line is a row of an image: the elements along the innermost axis.
struct conv_sizes {
  std::int64_t images = 0, groups = 1, channels = 0;  // channels: input channels of a group
  std::int64_t rows = 0, depth = 0;                   // output channels of a group; channels * taps
  std::int64_t taps = 1, pixels = 0;                  // pixels: outputs of a channel
  placed_window w;
  std::int64_t outputs_per_line = 1;
  std::int64_t padded = 0, plane = 0;      // elements of an input channel, with and without its padding
  std::int64_t strides[max_spatial] = {};  // of the padded channel
  std::size_t packed_size = 0;             // elements of the packed weights of a group
  /// True if every channel has separate and few filters: too little work per element to copy patches.
  bool depthwise() const { return channels == 1 && rows < 4; }
  bool points() const { return w.covers_points(); }
  bool plain() const {  // X already is the matrix of patches
    for (std::size_t i = 0; i < w.rank; ++i)
      if (w.axes[i].in != w.axes[i].out || w.axes[i].stride != 1 || w.axes[i].pad_begin != 0) return false;
    return points();
  }
};

/// Packs weights [rows, channels, taps] as panels of the matrix A, whose depth is [taps, channels]. A panel has as many
/// rows as a register tile; it is stored as [taps][channels][rows of the panel].
template <class T>
void pack_weights(const T* from, const conv_sizes& s, T* to, const run_context* run = nullptr) {
  const std::int64_t width = tile_of<gemm_number<T>>().rows;
  constexpr std::int64_t chunk = 64;  // channels; what is written stays in the L1 cache
  detail::stop_pace pace;
  for (std::int64_t r0 = 0; r0 < s.rows; r0 += width, to += width * s.depth) {
    const std::int64_t filled = std::min(width, s.rows - r0);
    if (filled < width) std::fill_n(to, width * s.depth, T{});
    for (std::int64_t c0 = 0; c0 < s.channels; c0 += chunk) {
      if (c0 > 0 && run && run->stopped(pace)) return;
      for (std::int64_t i = 0; i < filled; ++i) {
        const T* const row = from + (r0 + i) * s.depth;
        for (std::int64_t c = c0; c < std::min(s.channels, c0 + chunk); ++c)
          for (std::int64_t t = 0; t < s.taps; ++t) to[(t * s.channels + c) * width + i] = row[c * s.taps + t];
      }
    }
  }
}

/// Sets the sizes that depend on the weights alone; W is [M, C / group, kernel...].
template <class T>
status weight_sizes(const extents& w, std::int64_t groups, conv_sizes& s) {
  if (w.rank() < 3 || w[0] % groups != 0) return status_code::fail;  // a run says why
  s.groups = groups, s.rows = w[0] / groups, s.channels = w[1];
  s.taps = w.count(2, w.rank()), s.depth = s.channels * s.taps;
  if (!packed_a_size<T>(s.rows, s.depth, s.packed_size)) return status_code::out_of_memory;
  return {};
}

template <class T>
result<conv_sizes> sizes_of(const conv<T>& k, run_context& c) {
  const extents &x = c.input(0).shape, &w = c.input(1).shape;
  const result<geometry::conv> checked =
      geometry::conv_of<std::int64_t>(k.shape, k.groups, x, w, geometry::shape_of(c.input(2)));
  if (!checked) return checked.error();
  conv_sizes s;
  if (status sized = weight_sizes<typename conv<T>::number>(w, k.groups, s); !sized) return sized;
  s.w = checked->window;
  s.images = x[0], s.pixels = s.w.out_count(), s.plane = s.w.in_count(), s.padded = 1;
  if (s.pixels == 0) return s;
  for (std::size_t i = s.w.rank; i-- > 0;) {
    s.strides[i] = s.padded;
    if (!checked_multiply(s.padded, s.w.axes[i].padded(), s.padded)) return status_code::out_of_memory;
  }
  s.outputs_per_line = s.w.axes[s.w.rank - 1].out;
  return s;
}

/// Advances an index through all axes but the last, the last of them fastest; `size` is a member of window_axis.
template <class Size>
void next(std::int64_t* index, const placed_window& w, Size size) {
  for (std::size_t i = w.rank - 1; i-- > 0;) {
    if (++index[i] < std::invoke(size, w.axes[i])) return;
    index[i] = 0;
  }
}
/// Returns the index of the input line at an index; -1 if the line lies in the padding. The index counts the lines of
/// the padded channel or, if `strided`, the outputs of a 1x1 kernel.
std::int64_t line_at(const std::int64_t* index, const placed_window& w, bool strided) {
  std::int64_t line = 0;
  for (std::size_t i = 0; i + 1 < w.rank; ++i) {
    const std::int64_t p = index[i] * (strided ? w.axes[i].stride : 1) - w.axes[i].pad_begin;
    if (p < 0 || p >= w.axes[i].in) return -1;
    line = line * w.axes[i].in + p;
  }
  return line;
}

/// Reads the elements of some channels, or their weights, in order. Short runs of float16 and bfloat16 are widened many
/// at a time.
template <class T, class From>
class channel_lines {
 public:
  channel_lines(const number_source<T, From>& from, std::int64_t count) : source_{from}, count_{count} {}
  /// Returns contiguous elements: in place, or widened. Long runs are widened into `buffer`; short ones are valid until
  /// the next call.
  const T* line(std::int64_t first, std::int64_t count, T* buffer) {
    if (!source_.narrow) return source_.data + first;
    if (count > most / 2) return (source_ + first).read(buffer, count), buffer;
    if (first < first_ || first + count > end_) {
      first_ = first, end_ = std::min(first + most, count_);
      (source_ + first_).read(wide_, end_ - first_);
    }
    return wide_ + (first - first_);
  }
  /// Copies elements that are `step` apart.
  void read(std::int64_t first, std::int64_t count, std::int64_t step, T* to) {
    const std::int64_t length = (count - 1) * step + 1;
    if (source_.narrow && length > most / 2) return (source_ + first).read(to, count, step);
    number_source<T>{line(first, length, to)}.read(to, count, step);
  }

 private:
  static constexpr std::int64_t most = number_source<T, From>::may_be_narrow ? 1024 : 1;
  number_source<T, From> source_;
  std::int64_t count_, first_ = 0, end_ = 0;
  T wide_[most];
};

/// Copies the channels of an image and checks from time to time whether the run is to be stopped.
class channel_copier {
 public:
  explicit channel_copier(const run_context& c) : run_{c} {}
  bool stopped(std::int64_t elements) {
    constexpr std::int64_t some = 1 << 15;  // elements for each stop check
    if ((copied_ += elements) < some) return stops_;
    copied_ = 0;
    return stops_ = stops_ || run_.stopped(pace_);
  }
  template <class T, class From>
  void copy(channel_lines<T, From>& from, std::int64_t first, std::int64_t count, T* to) {
    constexpr std::int64_t some = 1 << 15;
    for (std::int64_t i = 0; i < count && !stopped(std::min(some, count - i)); i += some) {
      const T* const line = from.line(first + i, std::min(some, count - i), to + i);
      if (line != to + i) std::copy_n(line, std::min(some, count - i), to + i);
    }
  }

 private:
  const run_context& run_;
  detail::stop_pace pace_;
  std::int64_t copied_ = 0;
  bool stops_ = false;
};

/// Copies a channel, which starts at element `start` of `from`, and writes its padding out.
template <class T, class From>
void pad_channel(channel_copier& copier, const conv_sizes& s, channel_lines<T, From>& from, std::int64_t start, T* to) {
  const window_axis& line = s.w.axes[s.w.rank - 1];
  const std::int64_t width = line.padded(), lines = s.padded / width;
  const std::int64_t before = std::min(line.pad_begin, width);
  const std::int64_t inside = std::clamp<std::int64_t>(width - line.pad_begin, 0, line.in);
  std::int64_t index[max_spatial] = {};
  for (std::int64_t l = 0; l < lines && !copier.stopped(width - inside); ++l, to += width) {
    if (const std::int64_t at = line_at(index, s.w, false); at >= 0) {
      std::fill_n(to, before, T(0));
      copier.copy(from, start + at * line.in, inside, to + before);
      std::fill_n(to + before + inside, width - before - inside, T(0));
    } else {
      std::fill_n(to, width, T(0));
    }
    next(index, s.w, &window_axis::padded);
  }
}

/// Copies only the elements that the windows of a 1x1 kernel with strides read, one after the other.
template <class T, class From>
void copy_strided(channel_copier& copier, const conv_sizes& s, channel_lines<T, From>& from, std::int64_t start,
                  T* to) {
  const window_axis& line = s.w.axes[s.w.rank - 1];
  const window_axis::range inside = line.outputs_of(0);
  std::int64_t index[max_spatial] = {};
  for (std::int64_t l = 0; l < s.pixels / s.outputs_per_line && !copier.stopped(s.outputs_per_line);
       ++l, to += s.outputs_per_line) {
    const std::int64_t at = line_at(index, s.w, true);
    std::fill_n(to, s.outputs_per_line, T(0));
    if (at >= 0 && inside.begin < inside.end)
      from.read(start + at * line.in + inside.begin * line.stride - line.pad_begin, inside.end - inside.begin,
                line.stride, to + inside.begin);
    next(index, s.w, &window_axis::out);
  }
}

/// The offsets in a padded channel of each tap from the start of a window, and of the first window of each output line.
struct conv_starts {
  std::span<std::int64_t> taps, lines;
};
result<conv_starts> starts_of(run_context& c, const conv_sizes& s) {
  result<std::span<std::int64_t>> taps = c.scratch<std::int64_t>(std::size_t(s.taps));
  if (!taps) return taps.error();
  result<std::span<std::int64_t>> lines = c.scratch<std::int64_t>(std::size_t(s.pixels / s.outputs_per_line));
  if (!lines) return lines.error();
  using member = std::int64_t window_axis::*;
  const auto fill = [&](std::span<std::int64_t> starts, std::size_t axes, member count, member step) {
    for (std::size_t k = 0; k < starts.size(); ++k) {
      std::int64_t rest = std::int64_t(k), at = 0;
      for (std::size_t i = axes; i-- > 0; rest /= s.w.axes[i].*count)
        at += rest % (s.w.axes[i].*count) * (s.w.axes[i].*step) * s.strides[i];
      starts[k] = at;
    }
  };
  fill(*taps, s.w.rank, &window_axis::kernel, &window_axis::dilation);
  fill(*lines, s.w.rank - 1, &window_axis::out, &window_axis::stride);
  return conv_starts{*taps, *lines};
}

/// The operands of one call. From is the element type of X and W, as in number_source.
template <class T, class From>
struct conv_data {
  number_source<T, From> x, w;
  const T *bias, *add;
  T* y;
  activation f;
};

/// The epilogue for outputs of a group of an image, from row `first_row` on.
template <class T, class From>
gemm_epilogue<T> epilogue_of(const conv_data<T, From>& data, const conv_sizes& s, std::int64_t first_row,
                             std::int64_t y_offset) {
  gemm_epilogue<T> e;
  if (data.bias) e.bias = data.bias + first_row, e.bias_row_stride = 1;
  if (data.add) e.add = data.add + y_offset, e.add_row_stride = s.pixels;
  e.f = data.f;
  return e;
}

/// Computes a depthwise convolution, channel by channel, from copies of channels with their padding written out.
template <class T, class From>
status run_depthwise_channels(run_context& c, const conv_sizes& s, const conv_data<T, From>& data) {
  result<conv_starts> starts = starts_of(c, s);
  if (!starts) return starts.error();
  std::size_t elements = 0;
  const std::int64_t filters = s.rows * s.taps;  // weights of a channel; workers need a buffer to widen narrow ones
  if (!checked_add(std::size_t(s.padded), std::size_t(read_slack + (data.w.narrow ? filters : 0)), elements))
    return status_code::out_of_memory;
  const auto planes = lane_scratch<T>::make(c, elements);
  if (!planes) return planes.error();
  for (std::size_t lane = 0; lane < c.lanes(); ++lane)  // pad_channel writes all other elements
    std::fill_n(planes->at(lane) + s.padded, read_slack, T(0));
  const std::int64_t channels = s.images * s.groups;
  const std::int64_t work = std::max<std::int64_t>(1, s.rows * s.pixels * s.taps);
  const std::int64_t step = std::clamp<std::int64_t>((1 << 17) / work, 1, channels),
                     lines = s.pixels / s.outputs_per_line;
  const std::int64_t lines_per_stop_check =
      std::max<std::int64_t>(1, (1 << 17) / std::max<std::int64_t>(1, s.outputs_per_line * s.taps));
  const auto run_channel = [&](std::int64_t channel, channel_lines<T, From>& from, std::int64_t start,
                               channel_lines<T, From>& all_weights, T* plane) {
    channel_copier copier{c};
    pad_channel(copier, s, from, start, plane);
    const std::int64_t first = channel % s.groups * filters;
    const T* const weights = all_weights.line(first, filters, plane + s.padded + read_slack);
    detail::stop_pace pace;
    for (std::int64_t r = 0; r < s.rows; ++r)
      for (std::int64_t l = 0; l < lines; l += lines_per_stop_check) {
        if (c.stopped(pace)) return;
        const std::int64_t row = channel % s.groups * s.rows + r;
        const std::int64_t at = (channel * s.rows + r) * s.pixels + l * s.outputs_per_line;
        const std::span<const std::int64_t> rows =
            starts->lines.subspan(std::size_t(l), std::size_t(std::min(lines_per_stop_check, lines - l)));
        run_depthwise(depthwise_plane<T>{plane, rows, starts->taps, weights + r * s.taps, s.outputs_per_line,
                                         s.w.axes[s.w.rank - 1].stride, data.y + at, epilogue_of(data, s, row, at)});
      }
  };
  parallel_rows(c, channels, step, [&](std::int64_t a, std::int64_t b, std::size_t lane) {
    channel_lines<T, From> from{data.x + a * s.plane, (b - a) * s.plane}, weights{data.w, s.groups * filters};
    detail::stop_pace pace;
    for (std::int64_t i = a; i < b && !(i > a && c.stopped(pace)); ++i)
      run_channel(i, from, (i - a) * s.plane, weights, planes->at(lane));
  });
  return {};
}

/// Splits the outputs into tasks: panels of pixels, whose patches are packed once for all tasks of a block, by panels
/// of output channels.
template <class T>
work_split split_of_products(const conv_sizes& s, std::int64_t copies, std::size_t workers) {
  const gemm_tile tile = tile_of<T>();
  const auto blocks = [](std::int64_t count, std::int64_t size) { return (count + size - 1) / size; };
  const std::int64_t budget = (1 << 19) / std::int64_t(sizeof(T)) / std::max<std::int64_t>(1, s.depth * tile.columns);
  work_size size{.repeats = copies};
  size.outer = {blocks(s.pixels, tile.columns), std::clamp<std::int64_t>(budget, 2, 32), 2, 2};
  size.inner.units = size.inner.most = blocks(s.rows, tile.rows), size.inner.enough = size.inner.least = 3;
  size.cost = double(copies) * double(s.pixels) * double(s.rows) * double(s.depth);
  size.tasks_per_worker = 8;
  return {size, workers};
}

/// Packs the patches of pixels [n0, n0 + n) as panels of the matrix B: [taps][channels][pixels of the panel].
template <class T, class From>
void pack_block(const run_context& c, const conv_sizes& s, const conv_starts& starts,
                const number_source<T, From>& source, std::int64_t channel_stride, std::int64_t n0, std::int64_t n,
                T* to) {
  const std::int64_t width = tile_of<T>().columns;
  const std::int64_t step = s.w.axes[s.w.rank - 1].stride;
  if (s.points()) {
    pack_b(matrix_ref<T, From>{source + n0, channel_stride, 1}, s.depth, n, to, &c);
    return;
  }
  detail::stop_pace pace;
  for (std::int64_t j0 = n0; j0 < n0 + n; j0 += width, to += width * s.depth) {
    patch_piece pieces[64];
    std::size_t count = 0;
    const std::int64_t filled = std::min(width, n0 + n - j0);
    for (std::int64_t j = 0; j < filled;) {
      const std::int64_t line = (j0 + j) / s.outputs_per_line, x = (j0 + j) % s.outputs_per_line,
                         length = std::min(filled - j, s.outputs_per_line - x);
      pieces[count++] = {j, starts.lines[std::size_t(line)] + x * step, length};
      j += length;
    }
    if (filled < width) std::fill_n(to, width * s.depth, T(0));
    // The panel is packed in one call, or in several if that takes long, to check for a stop between them.
    const std::int64_t some = std::max<std::int64_t>(1, (1 << 17) / width);  // rows of the panel for each call
    const std::int64_t taps = std::clamp<std::int64_t>(some / std::max<std::int64_t>(1, s.channels), 1, s.taps);
    const std::int64_t channels = taps > 1 ? s.channels : std::min(some, s.channels);
    for (std::int64_t t = 0; t < s.taps; t += taps)
      for (std::int64_t i = 0; i < s.channels; i += channels) {
        if (c.stopped(pace)) return;
        pack_patches(patch_panel<T>{source.data + i * channel_stride,
                                    std::min(channels, s.channels - i),
                                    channel_stride,
                                    starts.taps.subspan(std::size_t(t), std::size_t(std::min(taps, s.taps - t))),
                                    step,
                                    {pieces, count},
                                    to + (t * s.channels + i) * width,
                                    width});
      }
  }
}

/// The images that patches are packed from: in place, or a copy with padding or without the pixels that strides skip.
template <class T, class From>
struct conv_source {
  number_source<T, From> data;
  std::int64_t channel_stride;
};

/// Prepares `images` images from `first` on for packing patches; copies are written to `buffer`.
template <class T, class From>
conv_source<T, From> prepare_source(run_context& c, const conv_sizes& s, const number_source<T, From>& x,
                                    std::int64_t first, std::int64_t images, std::span<T> buffer) {
  const std::int64_t channels = s.groups * s.channels;
  const number_source<T, From> from = x + first * channels * s.plane;
  if (s.plain()) return {from, s.plane};
  const std::int64_t each = s.points() ? s.pixels : s.padded;
  parallel_for(c, images * channels, std::max<std::int64_t>(1, (1 << 15) / each), [&](std::int64_t a, std::int64_t b) {
    channel_copier copier{c};
    channel_lines<T, From> lines{from + a * s.plane, (b - a) * s.plane};
    for (std::int64_t i = a; i < b; ++i) {
      if (s.points()) copy_strided(copier, s, lines, (i - a) * s.plane, buffer.data() + i * each);
      else pad_channel(copier, s, lines, (i - a) * s.plane, buffer.data() + i * each);
    }
  });
  return {{buffer.data()}, each};
}

/// One call's data for all tasks. `weights` are panels of T, or of 16-bit floats that are widened when they are read.
template <class T, class From>
struct conv_task {
  const run_context& c;
  const conv_sizes& s;
  const conv_data<T, From>& data;
  const conv_starts& starts;
  const number_source<T, From>& weights;
  const lane_scratch<T>&blocks, &buffers;  // for packed patches, and for widened weights
  std::span<std::int64_t> held_blocks;     // for each worker, the index of the block that its patches belong to

  void run(const conv_source<T, From>& source, std::int64_t first_image, const work_task& task,
           std::size_t lane) const {
    const gemm_tile tile = tile_of<T>();
    const std::int64_t product = task.repeat, group = product % s.groups;
    const std::int64_t n0 = task.outer * tile.columns, m0 = task.inner * tile.rows;
    const std::int64_t n = std::min(task.outer_count * tile.columns, s.pixels - n0);
    const std::int64_t m = std::min(task.inner_count * tile.rows, s.rows - m0);
    T* const patches = blocks.at(lane);
    if (held_blocks[lane] != task.block) {
      pack_block(c, s, starts, source.data + product * s.channels * source.channel_stride, source.channel_stride, n0, n,
                 patches);
      held_blocks[lane] = task.block;
    }
    const std::int64_t at = ((first_image * s.groups + product) * s.rows + m0) * s.pixels + n0;
    const std::int64_t first = group * std::int64_t(s.packed_size) + m0 * s.depth;
    const number_source<T, From> panels = weights + first;
    gemm_block<T, T, From> product_of{m,       n,           s.depth,  panels.data,
                                      patches, data.y + at, s.pixels, epilogue_of(data, s, group * s.rows + m0, at)};
    product_of.narrow_a = panels.narrow;
    if (panels.narrow) product_of.buffer = buffers.at(lane);
    product_of.run = &c;
    multiply_block(product_of);
  }
};

/// Packs the weights of all groups as panels, in their own type.
template <class T>
result<const T*> weights_of(run_context& c, const conv_sizes& s, const T* w) {
  std::size_t size = 0;
  if (!checked_multiply(s.packed_size, std::size_t(s.groups), size)) return status_code::out_of_memory;
  result<std::span<T>> packed = c.scratch<T>(size);
  if (!packed) return packed.error();
  const std::int64_t width = tile_of<gemm_number<T>>().rows, panels = (s.rows + width - 1) / width;
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / std::max<std::int64_t>(1, width * s.depth));
  parallel_for(c, s.groups * panels, grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t r0 = i % panels * width, group = i / panels;
      conv_sizes part = s;
      part.rows = std::min(width, s.rows - r0);
      pack_weights(w + (group * s.rows + r0) * s.depth, part,
                   packed->data() + std::size_t(group) * s.packed_size + r0 * s.depth, &c);
    }
  });
  return packed->data();
}

/// Computes a convolution as matrix products of packed weights and packed patches, for as many images at a time (a
/// round) as fit in the buffer of copies.
template <class T, class From>
status run_product(run_context& c, const conv_sizes& s, const conv_data<T, From>& data,
                   const number_source<T, From>& weights) {
  conv_starts starts;
  if (!s.points()) {
    result<conv_starts> made = starts_of(c, s);
    if (!made) return made.error();
    starts = *made;
  }
  std::int64_t image_size = 0;
  if (!checked_multiply(s.groups * s.channels, s.points() ? s.pixels : s.padded, image_size))
    return status_code::out_of_memory;
  std::int64_t round = s.images;
  std::span<T> buffer;
  if (!s.plain()) {
    const std::int64_t fit = (std::int64_t{1} << 24) / std::int64_t(sizeof(T)) / std::max<std::int64_t>(image_size, 1);
    round = std::clamp<std::int64_t>(fit, 1, s.images);
    std::int64_t size = 0;
    if (!checked_multiply(round, image_size, size) || !checked_add(size, read_slack, size))
      return status_code::out_of_memory;
    result<std::span<T>> made = c.scratch<T>(std::size_t(size));
    if (!made) return made.error();
    buffer = *made;
    std::fill_n(buffer.end() - read_slack, read_slack, T(0));
  }
  const gemm_tile tile = tile_of<T>();
  const work_split whole_round = split_of_products<T>(s, round * s.groups, c.lanes());
  std::size_t block = 0;
  if (!packed_b_size<T>(s.depth, std::min(whole_round.most_outer() * tile.columns, s.pixels), block) ||
      !checked_add(block, std::size_t(write_slack), block))
    return status_code::out_of_memory;
  const auto blocks = lane_scratch<T>::make(c, block);
  if (!blocks) return blocks.error();
  result<std::span<std::int64_t>> held_blocks = c.scratch<std::int64_t>(c.lanes());
  if (!held_blocks) return held_blocks.error();
  const std::int64_t rows = std::min(s.rows, whole_round.most_inner() * tile.rows);
  const std::int64_t buffer_of_task =
      std::max(gemm_buffer_size(rows, s.depth, tile.rows), gemm_buffer_size(tile.rows, s.depth, tile.rows));
  const std::size_t buffer_size = weights.narrow ? std::size_t(buffer_of_task) : 0;
  const auto buffers = lane_scratch<T>::make(c, buffer_size);
  if (!buffers) return buffers.error();
  const conv_task<T, From> one{c, s, data, starts, weights, *blocks, *buffers, *held_blocks};
  for (std::int64_t first = 0; first < s.images; first += round) {
    const std::int64_t images = std::min(round, s.images - first);
    const conv_source<T, From> source = prepare_source(c, s, data.x, first, images, buffer);
    std::fill(held_blocks->begin(), held_blocks->end(), -1);
    const work_split split = images == round ? whole_round : split_of_products<T>(s, images * s.groups, c.lanes());
    const auto run = [&](const work_task& task, std::size_t lane) { one.run(source, first, task, lane); };
    if (!for_each_task(c, split, run)) return status_code::canceled;
  }
  return {};
}

}  // namespace

template <class T>
result<conv<T>> conv<T>::bind(bind_context& c) {
  const attributes_of<op::Conv> a{c.attributes};
  conv made{detail::window_of(a), a.group};
  if (!c.is_constant(1) || !c.prepack) return made;
  conv_sizes s;
  if (!weight_sizes<number>(c.inputs[1].constant->shape, made.groups, s) || s.depthwise() || s.depth == 0)
    return made;  // run reports the error
  std::size_t size = 0;
  if (!checked_multiply(s.packed_size, std::size_t(s.groups), size)) return status_code::out_of_memory;
  const auto fill = [&](const value& w, std::span<T> to) -> status {
    for (std::int64_t g = 0; g < s.groups; ++g)
      pack_weights(w.as_unchecked<T>().data() + g * s.rows * s.depth, s, to.data() + std::size_t(g) * s.packed_size);
    return {};
  };
  const result<std::span<const T>> packed = c.pack<T>(1, size, fill);
  if (!packed) return packed.error();
  made.packed = packed->data();
  return made;
}

template <class T>
status conv<T>::run(run_context& c) const {
  result<conv_sizes> s = sizes_of(*this, c);
  if (!s) return s.error();
  extents y_shape{s->images, s->groups * s->rows};
  for (std::size_t i = 0; i < s->w.rank; ++i) y_shape.push_back(s->w.axes[i].out);
  if (c.has_input(3) && c.input(3))
    if (status fits = check_shape("Z", c.input(3).shape, y_shape); !fits) return fits;
  result<tensor_view<T>> y = c.output<T>(0, y_shape);
  if (!y) return y.error();
  if (y->empty()) return {};
  result<number*> buffer = buffer_for_numbers<number>(c, *y);
  if (!buffer) return buffer.error();
  result<const number*> bias = static_cast<const number*>(c.input(2).data);
  if constexpr (is_narrow_v<T>) bias = wide_vector<number>(c, c.input(2));
  if (!bias) return bias.error();
  using numbers = number_source<number, elements_like<T>>;
  const auto source = [&](std::size_t i) { return numbers::make(static_cast<const T*>(c.input(i).data)); };
  conv_data<number, elements_like<T>> data{source(0), source(1), *bias, source(3).data, *buffer, f};
  narrow_epilogue epilogue;
  if constexpr (is_narrow_v<T>)
    if (source(3)) epilogue = {source(3).narrow, 1, std::exchange(data.f, {})};
  result<const T*> panels = packed;
  if (!packed && !s->depthwise()) panels = weights_of(c, *s, static_cast<const T*>(c.input(1).data));
  if (!panels) return panels.error();
  const auto weights = numbers::make(*panels);
  if (status done = s->depthwise() ? run_depthwise_channels(c, *s, data) : run_product(c, *s, data, weights); !done)
    return done;
  store_numbers(c, *buffer, *y, epilogue);
  return {};
}

template <class T>
result<fused_conv<T>> fused_conv<T>::bind(bind_context& c) {
  const attributes_of<op::microsoft::FusedConv> a{c.attributes};
  result<activation> f = activation_named(a.activation, dtype_of<typename conv<T>::number>);
  if (!f) return f.error();
  result<conv<T>> made = conv<T>::bind(c);
  if (!made) return made.error();
  made->f = *f;
  for (std::size_t i = 0; i < a.activation_params.size(); ++i) made->f.give(i, a.activation_params[i]);
  return fused_conv{*made};
}

template struct bound_kernels<float_elements, conv>;
template struct bound_kernels<first_float_elements, fused_conv>;

}  // namespace CAMEO_NAMESPACE::eps
