#include <cameo/eps/cpu/nchwc_conv.hpp>
#include <cameo/geometry/conv.hpp>
#include <cameo/op/attributes/nchwc.hpp>
#include <cameo/op/read_window.hpp>

#include "machine/lane_scratch.hpp"
#include "machine/work_split.hpp"
#include "microkernels/nchwc.hpp"
#include "microkernels/nchwc_kernels.hpp"
#include "nchwc_conv_filters.hpp"
#include "products/bf16_product.hpp"

#include <cstring>
#include <limits>

namespace CAMEO_NAMESPACE::eps {
namespace {

using filters = nchwc_filters;

/// The sizes and operands of one call. Images are in the blocked layout [N, C / 16, H, W, 16]: a block is the 16
/// neighboring channels of a pixel. A plane is one block of channels of an image, or in a plain image one channel; a
/// line is a row of a plane.
struct conv_call {
  const nchwc_conv& k;
  filters w;
  bool plain = false;  // X is in the plain layout [N, C, H, W]
  std::int64_t images = 0, in_channels = 0;
  window_axis rows = {}, columns = {};
  const float *x = nullptr, *packed = nullptr, *bias = nullptr, *add = nullptr;
  /// The weights as pairs of bfloat16, which replace `packed`; w then is as_bf16_filters(). Null: computed in float.
  const std::uint32_t* packed_pairs = nullptr;
  float* y = nullptr;
  float low = -std::numeric_limits<float>::infinity(), high = -low;  // the bounds of Y
  const activation* more = nullptr;                                  // an activation of Y after it is stored
  std::int64_t in_plane() const { return rows.in * columns.in; }
  std::int64_t out_plane() const { return rows.out * columns.out; }
  bool reads_planes() const { return plain && !packed_pairs; }
  bool joins() const { return packed_pairs && joins_columns(k.w); }
  /// The number of packed weights of an output channel: the products that one output sums.
  std::int64_t depth() const { return (packed_pairs ? pairs_of(w) : w.channels) * w.taps(); }
  /// The number of channels of a block of Y; 16 but for the last block.
  std::int64_t lanes(std::int64_t block) const { return std::min(channel_block, all_maps(w) - block * channel_block); }
};

/// The layout of the input that the dense loops read: X itself, or a copy of some of its lines. In a copy, windows
/// never end outside of a line, and neighboring outputs read neighboring pixels. With a stride of s, the copy of a line
/// has s phases; phase p contains the pixels p, p + s, p + 2 * s and so on, one after the other. Pixels that no window
/// reads are left out. For products of bfloat16 the elements of a copy are pairs of channels, in blocks even if X is
/// plain.
struct source_layout {
  bool copied = false;
  std::int64_t pixel_size = channel_block, x_pixel_size = channel_block;  // elements of a pixel, here and in X
  std::int64_t phases = 1, phase_pixels = 0;                              // phases of a line, and pixels of a phase
  std::int64_t line_size = 0;                                             // elements of a line
  std::int64_t blocks = 0;                                                // blocks of channels, or planes, of a group
  explicit source_layout(const conv_call& c) {
    const window_axis& a = c.columns;
    const std::int64_t reach = (c.w.kernel[1] - 1) * a.dilation;
    copied = c.packed_pairs || c.plain || a.stride != 1 || a.pad_begin > 0 || a.out - 1 + reach >= a.in;
    x_pixel_size = c.plain ? 1 : channel_block;
    pixel_size = c.packed_pairs ? bf16_block : x_pixel_size;
    blocks = c.reads_planes() ? c.w.channels : blocks_of(c.w.channels);
    phases = copied ? std::min(a.stride, reach + 1) : 1;
    phase_pixels = copied ? a.out + reach / a.stride : a.in;
    line_size = phases * phase_pixels * pixel_size;
  }
};

/// Splits the work of a call into tasks: lines of outputs by pairs of output blocks. The tasks of the same lines are
/// consecutive, so that a worker copies the lines of X once for them.
work_split split_of(const conv_call& c, const source_layout& s, const block_pairs& p, std::size_t workers) {
  constexpr std::int64_t cached = 1 << 16;       // the number of elements of X that a task reads
  constexpr double least_in_parallel = 1 << 21;  // the number of operations that pays for a second worker
  const double work = double(c.out_plane()) * double(c.w.taps()) * double(c.w.channels) * double(c.w.maps);
  const std::int64_t line_size = std::max<std::int64_t>(1, s.line_size * s.blocks * c.rows.stride);
  work_size size{.repeats = c.images * c.w.groups};
  size.outer = {c.rows.out, std::max<std::int64_t>(1, cached / line_size)};
  size.inner.units = size.inner.most = p.count();
  size.cost = work * double(size.repeats), size.least_cost = 1 << 19;
  size.splits_inner_first = true;
  return {size, size.cost < least_in_parallel ? 1 : workers};
}

/// Converts pixels of a blocked line, `step` apart, to pairs of bfloat16. Only the first `channels` channels of a pixel
/// are used.
void narrow_pixels(const bf16_loops& by, const float* from, std::int64_t step, std::int64_t count,
                   std::int64_t channels, float* to) {
  auto* const pairs = reinterpret_cast<std::uint32_t*>(to);
  by.narrow(from, step * channel_block, count * channel_block, pairs, bf16_block);
  constexpr std::uint32_t first = 0xFFFF;  // keeps the first of a pair whose second channel does not exist
  for (std::int64_t i = 0; channels % 2 != 0 && i < count; ++i) pairs[i * bf16_block + channels / 2] &= first;
}

/// Sets the number of elements of the buffer for join_columns(); false if it overflows.
bool joined_size(const conv_call& c, const source_layout& s, std::int64_t& size) {
  if (!checked_multiply(c.columns.padded(), c.k.w.channels, size)) return false;
  return checked_add(size / 2, c.columns.in * s.x_pixel_size / 2 + channel_block, size);
}

/// Copies a line of all channels for weights whose kernel columns are channels (joins_columns()). `from` is the line in
/// the first plane, `buffer` memory for the line as bfloat16, in place and as [pixel][channel] with its padding.
void join_columns(const conv_call& c, const source_layout& s, const float* from, std::int64_t plane_step, float* to,
                  float* buffer) {
  const window_axis& a = c.columns;
  const std::int64_t channels = c.k.w.channels, size = a.padded() * channels + channel_block;
  auto* const narrow = reinterpret_cast<std::uint16_t*>(buffer);
  std::uint16_t* const line = narrow + (a.in * s.x_pixel_size + 1) / 2 * 2;
  std::fill_n(line, size, 0);
  const std::int64_t count = std::clamp<std::int64_t>(a.padded() - a.pad_begin, 0, a.in);
  for (std::int64_t ch = 0; ch < channels; ++ch) {
    if (c.plain || ch == 0)
      c.k.bf16->narrow(from + ch * c.in_plane(), channel_block, count * s.x_pixel_size,
                       reinterpret_cast<std::uint32_t*>(buffer), bf16_block);
    const std::uint16_t* const numbers = narrow + (c.plain ? 0 : ch);
    for (std::int64_t i = 0; i < count; ++i) line[(a.pad_begin + i) * channels + ch] = numbers[i * s.x_pixel_size];
  }
  for (std::int64_t u = 0; u < s.blocks; ++u) {
    auto* pixel = reinterpret_cast<std::uint16_t*>(to + u * plane_step);
    const std::int64_t first = u * channel_block, past = std::min(first + channel_block, c.w.channels);
    for (std::int64_t o = 0; o < a.out; ++o, pixel += channel_block) {
      const std::uint16_t* const window = line + o * a.stride * channels;
      if (a.dilation == 1) std::memcpy(pixel, window + first, channel_block * sizeof *pixel);
      for (std::int64_t i = first; a.dilation > 1 && i < past; ++i)
        pixel[i - first] = window[i / channels * a.dilation * channels + i % channels];
      if ((past - first) % 2 != 0) pixel[past - first] = 0;
    }
  }
}

/// Copies one line of a plane, of which `channels` channels exist; `from` is the line in X.
void copy_line(const conv_call& c, const source_layout& s, const float* from, std::int64_t channels, float* to) {
  const window_axis& a = c.columns;
  for (std::int64_t ph = 0; ph < s.phases; ++ph, to += s.phase_pixels * s.pixel_size) {
    const std::int64_t shift = a.pad_begin - ph;  // pixel q of the copy is pixel q * stride - shift of the line
    const std::int64_t begin = std::min(s.phase_pixels, shift > 0 ? (shift + a.stride - 1) / a.stride : 0);
    const std::int64_t past = a.in - 1 + shift;
    const std::int64_t end = past < 0 ? begin : std::clamp(past / a.stride + 1, begin, s.phase_pixels);
    std::fill_n(to, begin * s.pixel_size, 0.0f);
    if (begin < end) {
      const float* const first = from + (begin * a.stride - shift) * s.x_pixel_size;
      if (c.packed_pairs) {
        narrow_pixels(*c.k.bf16, first, a.stride, end - begin, channels, to + begin * s.pixel_size);
      } else if (a.stride == 1) {
        std::copy_n(first, (end - begin) * s.pixel_size, to + begin * s.pixel_size);
      } else if (s.pixel_size == 1 && a.stride == 2) {
        c.k.loops->every_second(first, end - begin, to + begin);
      } else if (s.pixel_size == 1) {
        for (std::int64_t q = begin; q < end; ++q) to[q] = first[(q - begin) * a.stride];
      } else {
        for (std::int64_t q = begin; q < end; ++q)
          std::copy_n(first + (q - begin) * a.stride * channel_block, channel_block, to + q * channel_block);
      }
    }
    std::fill_n(to + end * s.pixel_size, (s.phase_pixels - end) * s.pixel_size, 0.0f);
  }
}

/// The dense convolution of one call.
struct dense_call {
  const conv_call& c;
  source_layout s;
  block_pairs pairs;
  work_split split;
  bool is_flat;                         // with a 1x1 kernel, contiguous lines of a task are computed as one line
  std::int64_t most_copied_lines;       // the most lines of a plane that a copy has
  std::span<std::int64_t> taps;         // the offsets of the window's elements from its start
  std::span<std::int64_t> held_blocks;  // for each worker, the block of tasks that its copy belongs to
  lane_scratch<float> copies;
  std::int64_t plane_step = 0;  // elements from one plane of the source to the next
  dense_call(const conv_call& call, std::size_t workers)
      : c{call}, s{call}, pairs{call.w, call.k.lines->most_blocks}, split{split_of(call, s, pairs, workers)} {
    const window_axis& rows = c.rows;
    most_copied_lines =
        std::min(rows.in, (split.most_outer() - 1) * rows.stride + (rows.kernel - 1) * rows.dilation + 1);
    const bool points = c.w.taps() == 1 && rows.pad_begin == 0 && rows.pad_end == 0;
    is_flat = points && !c.reads_planes() && (s.copied ? s.phase_pixels == c.columns.out : rows.stride == 1);
  }

  status prepare(run_context&);
  void run(const run_context&, const work_task&, std::size_t lane) const;

 private:
  const float* copy_input_lines(const run_context&, std::int64_t repeat, std::int64_t first, std::int64_t count,
                                float* to) const;
  std::int64_t first_line(std::int64_t o) const { return std::max<std::int64_t>(0, start_line(o)); }
  std::int64_t start_line(std::int64_t o) const { return o * c.rows.stride - c.rows.pad_begin; }
};

status dense_call::prepare(run_context& run) {
  const std::int64_t per_plane = c.reads_planes() ? c.w.channels : 1;
  plane_step = (s.copied ? most_copied_lines : c.rows.in) * s.line_size;
  std::int64_t tap_count = 0;
  if (!checked_multiply(c.w.taps(), per_plane, tap_count)) return status_code::out_of_memory;
  result<std::span<std::int64_t>> table = run.scratch<std::int64_t>(std::size_t(tap_count));
  if (!table) return table.error();
  taps = *table;
  const window_axis& a = c.columns;
  std::int64_t* tap = taps.data();
  for (std::int64_t y = 0; y < c.w.kernel[0]; ++y)
    for (std::int64_t x = 0; x < c.w.kernel[1]; ++x) {
      const std::int64_t at = x * a.dilation;
      const std::int64_t pixel = s.copied ? at % a.stride * s.phase_pixels + at / a.stride : at;
      for (std::int64_t i = 0; i < per_plane; ++i)
        *tap++ = y * c.rows.dilation * s.line_size + pixel * s.pixel_size + i * plane_step;
    }
  if (!s.copied) return {};
  std::int64_t size = 0, joined = 0;
  if (!checked_multiply(s.blocks, most_copied_lines, size) || !checked_multiply(size, s.line_size, size) ||
      (c.joins() && !joined_size(c, s, joined)) || !checked_add(size, joined, size))
    return status_code::out_of_memory;
  const auto made = lane_scratch<float>::make(run, std::size_t(size));
  if (!made) return made.error();
  copies = *made;
  result<std::span<std::int64_t>> lanes = run.scratch<std::int64_t>(run.lanes());
  if (!lanes) return lanes.error();
  held_blocks = *lanes;
  std::fill(held_blocks.begin(), held_blocks.end(), -1);
  return {};
}

/// Copies the lines of X that the output lines [first, first + count) depend on, of all planes of a group. `repeat` is
/// the index of the image and its group.
const float* dense_call::copy_input_lines(const run_context& run, std::int64_t repeat, std::int64_t first,
                                          std::int64_t count, float* to) const {
  const std::int64_t top = first_line(first), reach = (c.rows.kernel - 1) * c.rows.dilation;
  const std::int64_t bottom = std::min(c.rows.in, start_line(first + count - 1) + reach + 1);
  const std::int64_t image = repeat / c.w.groups, group = repeat % c.w.groups;
  const float* from = c.x + image * c.in_channels * c.in_plane() + group * c.w.channels * c.in_plane();
  detail::stop_pace pace;
  for (std::int64_t u = 0; u < (c.joins() ? 1 : s.blocks); ++u, from += c.in_plane() * s.x_pixel_size)
    for (std::int64_t l = top; l < bottom; ++l) {
      if ((l - start_line(first)) % c.rows.stride > reach) continue;  // no window reads this line
      if (run.stopped(pace)) return to;
      const std::int64_t at = is_flat ? (l - top) / c.rows.stride : l - top;
      const float* const line = from + l * c.columns.in * s.x_pixel_size;
      float* const copy = to + u * plane_step + at * s.line_size;
      if (c.joins()) join_columns(c, s, line, plane_step, copy, to + s.blocks * plane_step);
      else copy_line(c, s, line, std::min(channel_block, c.w.channels - u * channel_block), copy);
    }
  return to;
}

/// Prefetches weights: while a pair of output blocks (that starts with `block`) is computed, the weights of the next
/// pair are prefetched, a few at a time. Large weights are not in a cache, and the first line would have to wait for
/// all.
struct weights_ahead {
  const float *next = nullptr, *end = nullptr;
  std::int64_t lines = 0, step = 0;  // cache lines for each 16 channels of a tap; elements for each line of outputs
  weights_ahead(const dense_call& d, std::int64_t pair, std::int64_t block, std::int64_t calls, std::int64_t outputs) {
    constexpr std::int64_t near = 1 << 17;  // weights of so few elements stay in a cache
    const std::int64_t depth = d.c.depth();
    if (pair + 1 >= d.pairs.count() || d.c.reads_planes() || d.c.w.maps * depth < near) return;
    const std::int64_t tile = d.c.packed_pairs ? d.c.k.bf16->tile_rows(outputs, 2) : d.c.k.lines->most_pixels;
    const std::int64_t tiles = (outputs + tile - 1) / tile, pixel_size = d.c.packed_pairs ? bf16_block : channel_block;
    const std::int64_t size = d.pairs.size(pair + 1) * channel_block, all = size * pixel_size / channel_block;
    lines = (all + calls * tiles - 1) / (calls * tiles);
    step = lines * channel_block * tiles * ((depth + pixel_size - 1) / pixel_size);
    next = d.c.packed_pairs ? reinterpret_cast<const float*>(d.c.packed_pairs) : d.c.packed;
    next += (block + d.pairs.size(pair)) * channel_block * depth;
    end = next + size * depth;
  }
  /// Adds the next weights to prefetch to a line.
  void add_to(nchwc_line& line) {
    line.ahead = next, line.ahead_lines = next < end ? lines : 0;
    if (next < end) next = end - next > step ? next + step : end;
  }
};

/// The arguments of the bfloat16 loops for the outputs of `p`.
bf16_line bf16_line_of(const bf16_loops& by, const nchwc_line& p, const std::uint32_t* w) {
  bf16_line line{};
  line.x = reinterpret_cast<const std::uint32_t*>(p.x);
  line.rows = p.count, line.tile_rows = by.tile_rows(p.count, p.blocks);
  line.tile_step = line.tile_rows * bf16_block, line.block_step = p.x_block;
  line.cells = (p.channels + 1) / 2;
  line.taps = p.taps, line.tap_count = p.tap_count, line.w_first = p.w_first, line.w_taps = p.w_taps;
  line.w = w, line.vectors = p.blocks, line.lanes = p.lanes, line.fills = true;
  line.y = p.y, line.y_row = channel_block, line.y_vector = p.y_block;
  line.alpha = line.beta = 1, line.bias = p.bias, line.bias_column = 1;
  line.add = p.add, line.add_row = channel_block, line.add_vector = p.y_block;
  line.low = p.low, line.high = p.high, line.f = p.more;
  line.ahead = reinterpret_cast<const char*>(p.ahead), line.ahead_lines = p.ahead_lines;
  return line;
}

void dense_call::run(const run_context& run, const work_task& task, std::size_t lane) const {
  const std::int64_t repeat = task.repeat, first = task.outer, count = task.outer_count;
  const std::int64_t image = repeat / c.w.groups, group = repeat % c.w.groups;
  const float* source = nullptr;
  std::int64_t top = 0;  // the line of X that is the first of `source`
  if (s.copied) {
    float* const to = copies.at(lane);
    if (held_blocks[lane] != task.block)
      copy_input_lines(run, repeat, first, count, to), held_blocks[lane] = task.block;
    source = to, top = first_line(first);
  } else {
    source = c.x + image * c.in_channels * c.in_plane() + group * c.w.channels * c.in_plane();
  }
  const std::int64_t blocks = blocks_of(all_maps(c.w)), depth = c.depth();
  nchwc_line line{};
  line.x_block = plane_step, line.channels = c.reads_planes() ? 1 : c.w.channels;
  line.w_taps = std::int64_t(taps.size()), line.y_block = c.out_plane() * channel_block;
  line.taps = taps.data(), line.low = c.low, line.high = c.high, line.more = c.more;
  // The number of outputs of a line for each stop check, in whole tiles.
  const std::int64_t tile = c.k.lines->most_pixels, work = depth * 2 * channel_block * tile;
  const std::int64_t outputs_per_stop_check =
      std::max<std::int64_t>(1, (std::int64_t{1} << 23) / std::max<std::int64_t>(1, work)) * tile;
  detail::stop_pace pace;
  for (std::int64_t i = task.inner; i < task.inner + task.inner_count; ++i) {
    const std::int64_t block = group * pairs.blocks + pairs.first(i);  // the first output block of the pair
    line.blocks = pairs.size(i);
    line.w = c.packed_pairs ? nullptr : c.packed + block * channel_block * depth;
    line.bias = c.bias + block * channel_block;
    line.lanes = c.lanes(block + line.blocks - 1);
    weights_ahead ahead(*this, i, block, is_flat ? 1 : count, is_flat ? count * c.columns.out : c.columns.out);
    const std::int64_t y = (image * blocks + block) * line.y_block;
    const auto put = [&](std::int64_t o, std::int64_t outputs) {
      const float* const x = line.x;
      for (std::int64_t done = 0; done < outputs && !run.stopped(pace); done += outputs_per_stop_check) {
        const std::int64_t at = y + (o * c.columns.out + done) * channel_block;
        line.count = std::min(outputs_per_stop_check, outputs - done);
        line.x = x + done * s.pixel_size;
        line.y = c.y + at;
        line.add = c.add ? c.add + at : nullptr;
        ahead.add_to(line);
        if (c.packed_pairs)
          c.k.bf16->line(bf16_line_of(*c.k.bf16, line, c.packed_pairs + block * channel_block * depth));
        else (c.plain ? c.k.lines->plain_line : c.k.lines->line)(line);
      }
    };
    if (is_flat) {
      line.x = source + (s.copied ? 0 : first * s.line_size), line.tap_count = 1;
      put(first, count * c.columns.out);
      continue;
    }
    for (std::int64_t o = first; o < first + count; ++o) {
      const std::int64_t k0 = c.rows.first(o), k1 = std::max(k0, c.rows.last(o)), per_row = line.w_taps / c.rows.kernel;
      line.tap_count = (k1 - k0) * per_row, line.w_first = k0 * per_row;
      line.x = line.tap_count ? source + (start_line(o) + k0 * c.rows.dilation - top) * s.line_size : source;
      put(o, c.columns.out);
    }
  }
}

status run_dense(run_context& c, const conv_call& call) {
  dense_call dense{call, c.lanes()};
  if (status ready = dense.prepare(c); !ready) return ready;
  for_each_task(c, dense.split, [&](const work_task& task, std::size_t lane) { dense.run(c, task, lane); });
  return {};
}

status run_depthwise_call(run_context& c, const conv_call& call) {
  const window_axis &rows = call.rows, &columns = call.columns;
  const std::int64_t blocks = blocks_of(call.w.groups), lines = call.images * blocks * rows.out;
  nchwc_depthwise_line base{};
  base.row_step = rows.dilation * columns.in * channel_block;
  base.columns = columns.kernel, base.stride = columns.stride, base.dilation = columns.dilation;
  base.width = columns.in, base.pad = columns.pad_begin, base.count = columns.out;
  base.low = call.low, base.high = call.high, base.more = call.more;
  const std::int64_t work = std::max<std::int64_t>(1, call.w.taps() * columns.out * channel_block);
  const std::int64_t grain = work * lines < (1 << 20) ? lines : std::max<std::int64_t>(1, (1 << 17) / work);
  parallel_for(c, lines, grain, [&](std::int64_t first, std::int64_t last) {
    nchwc_depthwise_line line = base;
    for (std::int64_t l = first; l < last; ++l) {
      const std::int64_t plane = l / rows.out, o = l % rows.out, block = plane % blocks;
      const std::int64_t k0 = rows.first(o), k1 = std::max(k0, rows.last(o));
      line.rows = k1 - k0;
      const float* const from = call.x + plane * call.in_plane() * channel_block;
      line.x = line.rows ? from + (o * rows.stride - rows.pad_begin + k0 * rows.dilation) * columns.in * channel_block
                         : from;
      line.w = call.packed + (block * call.w.taps() + k0 * columns.kernel) * channel_block;
      line.bias = call.bias + block * channel_block;
      line.y = call.y + l * columns.out * channel_block;
      line.add = call.add ? call.add + l * columns.out * channel_block : nullptr;
      line.lanes = call.lanes(block);
      call.k.loops->depthwise(line);
    }
  });
  return {};
}

/// Copies the bias, input 2, and fills it up with zeros to whole blocks.
void round_bias(const value& b, std::span<float> to) {
  const std::span<const float> from = b ? b.as_unchecked<float>().span() : std::span<const float>{};
  std::fill(std::copy(from.begin(), from.end(), to.begin()), to.end(), 0.0f);
}

status add_weights(run_context& c, const nchwc_conv& k, conv_call& call) {
  call.packed = k.packed, call.bias = k.bias;
  if (!call.packed && !call.packed_pairs) {
    std::size_t size = 0;
    if (!packed_size(call.w, size)) return status_code::out_of_memory;
    result<std::span<float>> made = c.scratch<float>(size);
    if (!made) return made.error();
    pack_filters(c.input<float>(1).data(), call.w, k.lines->most_blocks, made->data());
    call.packed = made->data();
  }
  if (!call.bias) {
    result<std::span<float>> made = c.scratch<float>(std::size_t(rounded_up(all_maps(call.w))));
    if (!made) return made.error();
    if (status s = check_input("B", c.input(2), {all_maps(call.w)}); !s) return s;
    round_bias(c.input(2), *made);
    call.bias = made->data();
  }
  return {};
}

/// Sets the sizes of a call.
status place(run_context& c, const nchwc_conv& k, conv_call& call) {
  const extents& x = c.input(0).shape;
  std::int64_t channels = 0;
  if (!checked_multiply(call.w.groups, call.w.channels, channels) || channels > INT64_MAX - channel_block)
    return status_code::out_of_memory;
  call.plain = call.w.groups == 1 && channels < channel_block && x[1] == channels;
  if (!call.plain && x[1] != rounded_up(channels))
    return bad_input("X has shape ", x, ", must have ", rounded_up(channels),
                     " channels in blocks, or fewer than 16 plain ones, for weights of ", channels);
  const result<placed_window> placed = k.shape.place<std::int64_t>(x, call.w.kernel);
  if (!placed) return placed.error();
  if (k.packed_pairs) call.packed_pairs = k.packed_pairs, call.w = as_bf16_filters(call.w);
  call.rows = placed->axes[0], call.columns = placed->axes[1], call.images = x[0], call.in_channels = x[1];
  return {};
}

}  // namespace

result<nchwc_conv> nchwc_conv::bind(bind_context& c) {
  c.may_overwrite(0, 3);  // an element of Sum is read just before that element of Y is written
  const attributes_of<op::nchwc::Conv> a{c.attributes};
  result<activation> f = activation_named(a.activation, dtype::f32);
  if (!f) return f.error();
  for (std::size_t i = 0; i < a.activation_params.size(); ++i) f->give(i, a.activation_params[i]);
  nchwc_conv made{detail::window_of(a), {}, false, *f, &best_nchwc_kernels(), &best_nchwc_line_kernels()};
  made.plain_weights = a.plain_weights != 0;
  made.w.groups = a.group;
  if (!c.is_constant(1) || !c.prepack || !made.plain_weights) return made;
  result<filters> known = filters_of(c.inputs[1].constant->shape, made.w.groups);
  std::size_t size = 0;
  if (!known || !packed_size(*known, size)) return made;  // run reports the error
  const std::int64_t rounded = rounded_up(all_maps(*known));
  if (const bf16_loops* const asked = asked_bf16(c); asked && !known->depthwise) {
    const filters seen = as_bf16_filters(*known);
    const std::int64_t pair_count = pairs_of(seen) * seen.taps() * rounded;
    const auto fill = [&](const value& w, std::span<std::uint32_t> to) -> status {
      pack_filters(w.as_unchecked<float>().data(), *known, made.lines->most_blocks, to.data());
      return {};
    };
    const result<std::span<const std::uint32_t>> packed = c.pack<std::uint32_t>(1, std::size_t(pair_count), fill);
    if (!packed) return packed.error();
    made.packed_pairs = packed->data(), made.bf16 = asked;
  } else {
    const result<std::span<const float>> packed =
        c.pack<float>(1, size, [&](const value& w, std::span<float> to) -> status {
          pack_filters(w.as_unchecked<float>().data(), *known, made.lines->most_blocks, to.data());
          return {};
        });
    if (!packed) return packed.error();
    made.packed = packed->data();
  }
  made.w = *known, made.w_known = true;
  const value* const b = c.constant(2);
  if (c.has_input(2) && (!b || b->shape != extents{all_maps(*known)})) return made;
  result<std::span<float>> bias = c.keep<float>(std::size_t(rounded));
  if (!bias) return bias.error();
  round_bias(b ? *b : value{}, *bias);
  made.bias = bias->data();
  return made;
}

status nchwc_conv::run(run_context& c) const {
  if (!plain_weights)
    return refuse(
        status_code::not_implemented,
        "weights are packed for the processor that the model was optimized on, in blocks of unknown size; save the "
        "model again with the optimizer NchwcTransformer disabled");
  result<filters> found = w_known ? result<filters>{w} : filters_of(c.input(1).shape, w.groups);
  if (!found) return found.error();
  conv_call call{*this, *found};
  if (status s = place(c, *this, call); !s) return s;
  const extents y_shape{call.images, rounded_up(all_maps(call.w)), call.rows.out, call.columns.out};
  const value* const sum = c.has_input(3) && c.input(3) ? &c.input(3) : nullptr;
  if (sum)
    if (status s = check_shape("Sum", sum->shape, y_shape); !s) return s;
  result<tensor_view<float>> y = c.output<float>(0, y_shape);
  if (!y) return y.error();
  if (y->empty()) return {};
  if (status s = add_weights(c, *this, call); !s) return s;
  call.x = c.input<float>(0).data(), call.y = y->data();
  if (call.x == call.y) {  // X is the same buffer as Sum, which Y overwrites
    const result<std::span<float>> kept = c.scratch<float>(y->size());
    if (!kept) return kept.error();
    std::copy_n(call.x, kept->size(), kept->data());
    call.x = kept->data();
  }
  if (sum) call.add = static_cast<const float*>(sum->data);
  switch (f.kind) {
    case activation_kind::none: break;
    case activation_kind::bounds: call.low = f.a, call.high = f.b; break;
    case activation_kind::stored: call.more = &f; break;
  }
  return call.w.depthwise ? run_depthwise_call(c, call) : run_dense(c, call);
}

}  // namespace CAMEO_NAMESPACE::eps
