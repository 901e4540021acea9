#include <cameo/eps/cpu/nchwc_pool.hpp>
#include <cameo/op/read_window.hpp>

#include "machine/lane_scratch.hpp"
#include "microkernels/nchwc.hpp"
#include "microkernels/nchwc_kernels.hpp"
#include "operands/usable_sizes.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

constexpr std::int64_t block_work = 1 << 17;  // the number of elements that a task reads; less work is one task

}  // namespace

template <bool Mean>
result<nchwc_pool<Mean>> nchwc_pool<Mean>::bind(bind_context& c) {
  const attributes_of<op::AveragePool> a{c.attributes};
  return nchwc_pool{detail::window_of(a), a.count_include_pad != 0, &best_nchwc_kernels()};
}

template <bool Mean>
status nchwc_pool<Mean>::run(run_context& c) const {
  const extents& x = c.input(0).shape;
  result<placed_window> placed = shape.place<std::int64_t>(x, {}, true);
  if (!placed) return placed.error();
  const window_axis rows = placed->axes[0], columns = placed->axes[1];
  result<tensor_view<float>> y = c.output<float>(0, {x[0], x[1], rows.out, columns.out});
  if (!y) return y.error();
  if (y->empty()) return {};
  // For each output of a line: 1 / the number of elements in its window. Most lines have the same numbers.
  const auto scales = lane_scratch<float>::make(c, Mean ? std::size_t(columns.out) : 0);
  if (!scales) return scales.error();
  nchwc_pool_line base{};
  base.row_step = rows.dilation * columns.in * channel_block, base.columns = columns.kernel;
  base.stride = columns.stride, base.dilation = columns.dilation, base.width = columns.in;
  base.pad = columns.pad_begin, base.count = columns.out;
  const float* const from = c.input<float>(0).data();
  float* const to = y->data();
  const std::int64_t lines = x[0] * (x[1] / channel_block) * rows.out, in_plane = rows.in * columns.in * channel_block;
  const std::int64_t work = std::max<std::int64_t>(1, columns.out * rows.kernel * columns.kernel * channel_block);
  const std::int64_t grain = work * lines < 4 * block_work ? lines : std::max<std::int64_t>(1, block_work / work);
  const auto run_lines = [&](std::int64_t first, std::int64_t last, float* scale) {
    nchwc_pool_line line = base;
    std::int64_t counted = -1;  // the number of window rows that `scale` was computed for
    for (std::int64_t l = first; l < last; ++l) {
      const std::int64_t plane = l / rows.out, o = l % rows.out;
      const std::int64_t k0 = rows.first(o), k1 = std::max(k0, rows.last(o));
      line.rows = k1 - k0;
      line.x = from + plane * in_plane;
      if (line.rows) line.x += (o * rows.stride - rows.pad_begin + k0 * rows.dilation) * columns.in * channel_block;
      line.y = to + l * columns.out * channel_block;
      if constexpr (Mean) {
        const std::int64_t elements = rows.elements(o, include_pad);
        for (std::int64_t i = 0; i < columns.out && elements != counted; ++i) {
          const float all = float(elements) * float(columns.elements(i, include_pad));
          scale[i] = all > 0 ? 1.0f / all : 0.0f;
        }
        counted = elements, line.scale = scale;
      }
      loops->pool(line);
    }
  };
  if (grain == lines) return run_lines(0, lines, scales->at(0)), status{};
  c.parallel_lanes(std::size_t((lines + grain - 1) / grain), [&](std::size_t task, std::size_t lane) {
    const std::int64_t first = std::int64_t(task) * grain;
    run_lines(first, std::min(lines, first + grain), scales->at(lane));
  });
  return {};
}

template <bool Mean>
result<nchwc_global_pool<Mean>> nchwc_global_pool<Mean>::bind(bind_context&) {
  return nchwc_global_pool{&best_nchwc_kernels()};
}

template <bool Mean>
status nchwc_global_pool<Mean>::run(run_context& c) const {
  const extents& x = c.input(0).shape;
  if (status s = usable_sizes("input", x); !s) return s;
  result<tensor_view<float>> y = c.output<float>(0, {x[0], x[1], 1, 1});
  if (!y) return y.error();
  const float* const from = c.input<float>(0).data();
  float* const to = y->data();
  const std::int64_t plane = x[2] * x[3], blocks = x[0] * (x[1] / channel_block);
  const std::int64_t work = std::max<std::int64_t>(1, plane * channel_block);
  const std::int64_t grain =
      work < 4 * block_work / std::max<std::int64_t>(1, blocks) ? blocks : std::max<std::int64_t>(1, block_work / work);
  parallel_for(c, blocks, grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t b = first; b < last; ++b)
      (Mean ? loops->mean : loops->largest)(from + b * plane * channel_block, plane, to + b * channel_block);
  });
  return {};
}

template struct nchwc_pool<false>;
template struct nchwc_pool<true>;
template struct nchwc_global_pool<false>;
template struct nchwc_global_pool<true>;

}  // namespace CAMEO_NAMESPACE::eps
