#include "functions/normals.hpp"
#include "normalize_rows.hpp"
#include "operands/refuse.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

template <class C>
status run_columns(run_context& c, const axis_normalization_state& how,
                   axis_normalization_state::column_function<C> rows) {
  const value& x = c.input(0);
  const std::size_t rank = x.shape.rank();
  std::int64_t a = how.axis;
  const bool scalar = rank == 0 && how.takes_scalars && (a == 0 || a == -1);
  const bool past_end = how.flattens && a == std::int64_t(rank);  // each element is normalized alone
  if (!scalar && !past_end && !normalize_axis(a, rank))
    return bad_input("axis ", how.axis, " is not in [-", rank, ",", rank, ") of shape ", x.shape);
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  if (x.shape.count() == 0) return {};
  const std::size_t first_axis = scalar ? 0 : std::size_t(a), next = scalar || how.flattens ? rank : first_axis + 1;
  const std::int64_t size = x.shape.count(first_axis, next), inner = x.shape.count(next, rank);
  const std::int64_t stretches = (inner + most_columns - 1) / most_columns, width = std::min(inner, most_columns);
  const auto from = row_rooms<C>::make(c, x, size, width), y = row_rooms<C>::make(c, **out, size, width);
  if (!from || !y) return status_code::out_of_memory;
  parallel_each_row(c, x.shape.count(0, first_axis) * stretches, grain_of(1 << 14, size * width),
                    [&](std::int64_t unit, std::size_t lane) {
                      const std::int64_t column = unit % stretches * most_columns,
                                         n = std::min(most_columns, inner - column);
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

/// The default of an attribute in the newest version up to the node's version.
std::int64_t default_of(const bind_context& c, std::span<const op_version> versions, std::string_view name) {
  std::int64_t found = 0;
  for (const op_version& version : versions)
    for (const attribute_rule& rule : version.attributes)
      if (version.since <= c.since && rule.name == name) found = rule.default_int;
  return found;
}

}  // namespace

status axis_normalization_state::run(run_context& c) const {
  return c.input(0).type == dtype::f64 ? run_columns(c, *this, in_double) : run_columns(c, *this, in_float);
}

status axis_normalization_state::finish(bind_context& c, std::span<const op_version> versions) {
  axis = c.int_or("axis", default_of(c, versions, "axis"));
  p = c.int_or("p", default_of(c, versions, "p"));
  c.may_overwrite(0, 0);
  return {};
}

template <class Op>
result<axis_normalization<Op>> axis_normalization<Op>::bind(bind_context& c) {
  static_assert((elements_in<Op, normalizations>::mask & ~float_elements::mask) == 0,
                "cameo: a normalization computes with floats alone");
  axis_normalization made;
  made.in_float = normalize_columns<Op, float>;
  made.in_double = normalize_columns<Op, double>;
  constexpr bool is_softmax = is_one_of<Op, op::Softmax, op::LogSoftmax, op::Hardmax>;
  made.takes_scalars = is_softmax;
  made.flattens = is_softmax && c.since < 13;
  if (status read = made.finish(c, Op::versions); !read) return read;
  return made;
}

template struct bound_rows<normalizations>;

}  // namespace CAMEO_NAMESPACE::eps
