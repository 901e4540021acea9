#include <cameo/eps/cpu/pool_with_mask.hpp>
#include <cameo/kernel/run_context.hpp>

#include <algorithm>
#include <limits>

#include "common/refuse.hpp"
#include "common/usable_sizes.hpp"

namespace cameo::inline CAMEO_ABI::eps {

result<max_pool_with_mask> max_pool_with_mask::bind(bind_context& c) {
  result<window> shape = window::bind(c);
  if (!shape) return shape.error();
  if (shape->kernel.empty()) return bad_attribute("needs kernel_shape");
  return max_pool_with_mask{*shape};
}

namespace {

/// The largest element of window `o` of a plane. `shown`: its mask.
float largest_in_window(const placed_window& w, const float* x, const std::int32_t* shown, const std::int64_t* o) {
  const window_axis &line = w.axes[w.rank - 1], none{1, 1, 1, 1, 1, 0, 0};
  const window_axis &rows = w.rank > 1 ? w.axes[w.rank - 2] : none, &planes = w.rank > 2 ? w.axes[0] : none;
  const std::int64_t row_at = w.rank > 1 ? o[w.rank - 2] : 0, plane_at = w.rank > 2 ? o[0] : 0, at = o[w.rank - 1];
  const auto place = [](const window_axis& a, std::int64_t out, std::int64_t k) {
    return out * a.stride - a.pad_begin + k * a.dilation;
  };
  float most = std::numeric_limits<float>::lowest();
  for (std::int64_t p = planes.first(plane_at); p < planes.last(plane_at); ++p)
    for (std::int64_t r = rows.first(row_at); r < rows.last(row_at); ++r) {
      const std::int64_t start = (place(planes, plane_at, p) * rows.in + place(rows, row_at, r)) * line.in;
      for (std::int64_t k = line.first(at); k < line.last(at); ++k) {
        const std::int64_t i = start + place(line, at, k);
        if ((i > 0 || w.rank == 1) && shown[i] == 0) break;
        most = std::max(most, x[i]);
      }
    }
  return most;
}

}  // namespace

status max_pool_with_mask::run(run_context& c) const {
  const value &x = c.input(0), &mask = c.input(1);
  const std::size_t rank = x.shape.rank();
  if (rank < 3 || rank > 5) return bad_input("X ", x.shape, " must have one to three axes after N and C");
  if (status s = usable_sizes("X", x.shape); !s) return s;
  const result<placed_window> w = shape.place(x.shape, shape.kernel);
  if (!w) return w.error();
  extents y_shape{x.shape[0], x.shape[1]};
  for (std::size_t i = 0; i < w->rank; ++i) y_shape.push_back(w->axes[i].out);
  const std::int64_t step = w->in_count(), outputs = w->out_count();
  bool fits = mask.shape.rank() == rank;
  for (std::size_t i = 2; fits && i < rank; ++i) fits = mask.shape[i] == x.shape[i];
  if (!fits || mask.shape.count() == 0) return bad_input("M ", mask.shape, " must be a mask for planes of X ", x.shape);
  const result<tensor_view<float>> y = c.output<float>(0, y_shape);
  if (!y) return y.error();
  if (y->empty()) return {};
  const std::int64_t masks = mask.shape[0] * mask.shape[1];
  const std::int32_t* const shown = mask.as_unchecked<std::int32_t>().data();
  parallel_each(
      c, x.shape[0] * x.shape[1], 1 + (1 << 13) / (outputs * w->taps()), [&](std::int64_t plane, std::size_t) {
        std::int64_t o[max_spatial] = {};
        for (std::int64_t i = 0; i < outputs; ++i) {
          std::int64_t rest = i;
          for (std::size_t a = w->rank; a-- > 0; rest /= w->axes[a].out) o[a] = rest % w->axes[a].out;
          (*y)[plane * outputs + i] =
              largest_in_window(*w, static_cast<const float*>(x.data) + plane * step, shown + plane * step % masks, o);
        }
      });
  return {};
}

}  // namespace cameo::inline CAMEO_ABI::eps
