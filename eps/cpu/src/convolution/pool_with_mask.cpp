#include <cameo/eps/cpu/pool_with_mask.hpp>
#include <cameo/kernel/run_context.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/read_window.hpp>

#include <algorithm>
#include <limits>

#include "operands/refuse.hpp"
#include "operands/usable_sizes.hpp"
#include "windows/outer_window.hpp"

namespace CAMEO_NAMESPACE::eps {

namespace {

/// Returns the largest element of the window at output `o` of a line. `shown` is the mask of the plane; its first zero
/// ends a line of the window.
float largest_in_window(const placed_window& w, const outer_window& lines, std::int64_t o, const float* x,
                        const std::int32_t* shown) {
  const window_axis& axis = w.axes[w.rank - 1];
  float most = std::numeric_limits<float>::lowest();
  lines.each_line(w, [&](std::int64_t start) {
    for (std::int64_t k = axis.first(o), last = axis.last(o); k < last; ++k) {
      const std::int64_t i = start + o * axis.stride - axis.pad_begin + k * axis.dilation;
      if ((i > 0 || w.rank == 1) && shown[i] == 0) break;
      most = std::max(most, x[i]);
    }
  });
  return most;
}

}  // namespace

result<max_pool_with_mask> max_pool_with_mask::bind(bind_context& c) {
  return max_pool_with_mask{detail::window_of(attributes_of<op::microsoft::MaxpoolWithMask>{c.attributes})};
}

status max_pool_with_mask::run(run_context& c) const {
  const value &x = c.input(0), &mask = c.input(1);
  const std::size_t rank = x.shape.rank();
  if (status s = usable_sizes("X", x.shape); !s) return s;
  const result<placed_window> w = shape.place<std::int64_t>(x.shape, {});
  if (!w) return w.error();
  extents y_shape{x.shape[0], x.shape[1]};
  for (std::size_t i = 0; i < w->rank; ++i) y_shape.push_back(w->axes[i].out);
  const std::int64_t step = w->in_count(), outputs = w->out_count();
  if (mask.shape.rank() != rank || mask.shape.count() == 0)
    return bad_input("M ", mask.shape, " must be a mask for planes of X ", x.shape);
  const result<tensor_view<float>> y = c.output<float>(0, y_shape);
  if (!y) return y.error();
  if (y->empty()) return {};
  const std::int64_t masks = mask.shape[0] * mask.shape[1], width = y_shape.back();
  const std::int32_t* const shown = mask.as_unchecked<std::int32_t>().data();
  parallel_each(
      c, x.shape[0] * x.shape[1], 1 + (1 << 13) / (outputs * w->taps()), [&](std::int64_t plane, std::size_t) {
        const float* const from = static_cast<const float*>(x.data) + plane * step;
        for (std::int64_t i = 0; i < outputs; ++i)
          (*y)[plane * outputs + i] =
              largest_in_window(*w, outer_window{*w, i / width}, i % width, from, shown + plane * step % masks);
      });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
