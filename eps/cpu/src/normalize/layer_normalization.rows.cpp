#include <cameo/eps/cpu/layer_normalization.hpp>
#include <cameo/geometry/reduction.hpp>
#include <cameo/kernel/broadcast.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <algorithm>

#include "functions/float_rows.hpp"
#include "skeletons/float_output.hpp"

#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The factors (or summands) of the elements of a row: the same for all rows (step 0), or different ones (step is the
/// length of a row).
template <class C>
struct row_operand {
  const C* data = nullptr;
  std::int64_t step = 0;
};

/// Reads a tensor that broadcasts to x, whose rows have the shape `row`.
template <class C>
result<row_operand<C>> row_operand_of(run_context& c, const value& v, const extents& x, const extents& row) {
  if (v.shape == row) return wide_vector<C>(c, v).transform([](const C* vector) { return row_operand<C>{vector, 0}; });
  broadcast_loops<2> loops;
  const bool one_for_all = v.shape.rank() <= row.rank();
  if (status s = loops.make({&v.shape, one_for_all ? &row : &x}); !s) return s;
  const result<std::span<C>> copy = c.scratch<C>(std::size_t(loops.count()));
  if (!copy) return copy.error();
  loops.rows(0, loops.count(), [&](std::int64_t to, const auto& from, std::int64_t n) {
    if (loops.steps()[0]) load_floats(v, from[0], copy->data() + to, n);
    else std::fill_n(copy->data() + to, n, float_at<C>(v, from[0]));
  });
  return row_operand<C>{copy->data(), one_for_all ? 0 : row.count()};
}

}  // namespace

template <class C>
status layer_normalization_state::run_as(run_context& c) const {
  const value& x = c.input(0);
  const value &factors = c.input(1), &summands = c.input(2);
  const auto all = geometry::layer_normalization_of<std::int64_t>(x.shape, axis, geometry::shape_of(factors),
                                                                  geometry::shape_of(summands));
  if (!all) return all.error();
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  const extents per_row = all->statistics, of_row{x.shape.dims().subspan(all->axis)};
  const std::int64_t n = all->size;
  const result<std::span<double>> statistics = c.scratch<double>(std::size_t(per_row.count()) * 2);
  if (!statistics) return statistics.error();
  std::fill(statistics->begin(), statistics->end(), 0.0);
  double *const means = statistics->data(), *const inverses = means + per_row.count();
  if (x.shape.count() != 0) {
    const auto scale = row_operand_of<C>(c, factors, x.shape, of_row);
    if (!scale) return status{scale.error()};
    result<row_operand<C>> bias = row_operand<C>{};
    if (summands) bias = row_operand_of<C>(c, summands, x.shape, of_row);
    if (!bias) return bias.error();
    const auto normalize = [&](const C* in, C* to, std::int64_t r) {
      normal_row<C> row{};
      row.x = in, row.y = to, row.n = n, row.scale = scale->data + r * scale->step;
      if (bias->data) row.bias = bias->data + r * bias->step;
      row.epsilon = epsilon, row.centers = centers;
      const row_statistics s = normalize_row(row);
      means[r] = s.mean, inverses[r] = s.inverse;
    };
    if (status done = map_rows<C>(c, x, **out, n, grain_of(1 << 14, n), normalize); !done) return done;
  }
  if (mean_output)
    if (status written = write_optional(c, mean_output, per_row, means); !written) return written;
  return inverse_output ? write_optional(c, inverse_output, per_row, inverses) : status{};
}

status layer_normalization_state::run(run_context& c) const {
  return c.input(0).type == dtype::f64 ? run_as<double>(c) : run_as<float>(c);
}

template <class Op>
result<layer_normalization<Op>> layer_normalization<Op>::bind(bind_context& c) {
  layer_normalization made;
  const attributes_of<op::LayerNormalization> a{c.attributes};  // the other operators have the same ones
  made.epsilon = double(a.epsilon), made.axis = a.axis;
  made.centers = std::is_same_v<Op, op::LayerNormalization>;
  if (made.centers) made.mean_output = 1, made.inverse_output = 2;
  if (std::is_same_v<Op, op::contrib::SimplifiedLayerNormalization>) made.inverse_output = 1;
  if (c.outputs.empty() || c.inputs[0].type == c.outputs[0].type) c.may_overwrite(0, 0);
  return made;
}

template struct layer_normalization<op::LayerNormalization>;
template struct layer_normalization<op::RMSNormalization>;
template struct layer_normalization<op::contrib::SimplifiedLayerNormalization>;

}  // namespace CAMEO_NAMESPACE::eps
