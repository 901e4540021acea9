#include <cameo/op/attributes/onnx.hpp>

#include "functions/normals.hpp"
#include "normalize_rows.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

template <class C>
status run_columns(run_context& c, const axis_normalization_state& how,
                   axis_normalization_state::column_function<C> rows) {
  const value& x = c.input(0);
  const auto along = geometry::normalization_of<std::int64_t>(x.shape, how.axis, how.how);
  if (!along) return along.error();
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  if (x.shape.count() == 0) return {};
  const std::int64_t size = along->size, inner = along->inner;
  const std::int64_t stretches = (inner + most_columns - 1) / most_columns, width = std::min(inner, most_columns);
  const auto from = row_rooms<C>::make(c, x, size, width), y = row_rooms<C>::make(c, **out, size, width);
  if (!from || !y) return status_code::out_of_memory;
  parallel_each_row(
      c, along->outer * stretches, grain_of(1 << 14, size * width), [&](std::int64_t unit, std::size_t lane) {
        const std::int64_t column = unit % stretches * most_columns, n = std::min(most_columns, inner - column);
        const std::int64_t start = unit / stretches * size * inner + column;
        const row_block<const C> in = from->read(lane, start, inner, size, n);
        rows({in.data, y->room(lane, start, inner).data, size, in.step, n, how.p});
        y->store(lane, start, inner, size, n);
      });
  return {};
}

template <class Op, class C>
void normalize_columns(const columns_block<C>& b) {
  constexpr bool known = requires { normalize(Op{}, b); };
  static_assert(known, "cameo: no function of functions/normals.hpp computes this operator");
  if constexpr (known) normalize(Op{}, b);
}

}  // namespace

status axis_normalization_state::run(run_context& c) const {
  return c.input(0).type == dtype::f64 ? run_columns(c, *this, in_double) : run_columns(c, *this, in_float);
}

template <class Op>
result<axis_normalization<Op>> axis_normalization<Op>::bind(bind_context& c) {
  static_assert((elements_in<Op, normalizations>::mask & ~float_elements::mask) == 0,
                "cameo: a normalization computes with floats alone");
  axis_normalization made;
  made.in_float = normalize_columns<Op, float>;
  made.in_double = normalize_columns<Op, double>;
  constexpr bool is_softmax = is_one_of<Op, op::Softmax, op::LogSoftmax, op::Hardmax>;
  if (is_softmax) made.how = c.since < 13 ? geometry::normalized::flattened : geometry::normalized::softmax;
  if constexpr (is_softmax) {
    made.axis = attributes_of<Op>{c.attributes}.axis.value_or(c.since < 13 ? 1 : -1);
  } else {
    const attributes_of<op::LpNormalization> a{c.attributes};
    made.axis = a.axis, made.p = a.p;
  }
  c.may_overwrite(0, 0);
  return made;
}

template struct bound_rows<normalizations>;

}  // namespace CAMEO_NAMESPACE::eps
