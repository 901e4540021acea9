#include <cameo/eps/cpu/softmax.hpp>

#include <cmath>

#include "common/float_rows.hpp"
#include "skeletons/map.hpp"

#include "common/refuse.hpp"
#include "common/row_rooms.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

constexpr std::int64_t columns = softmax_state::columns;

template <class C>
void find_largest(const C* x, std::int64_t axis, std::int64_t inner, std::int64_t n, C* largest) {
  for (std::int64_t i = 0; i < n; ++i) largest[i] = x[i];
  for (std::int64_t a = 1; a < axis; ++a)
    for (std::int64_t i = 0; i < n; ++i) largest[i] = x[a * inner + i] > largest[i] ? x[a * inner + i] : largest[i];
}

void powers(float* x, std::int64_t n) { map_floats<op::Exp>(x, x, n); }
void powers(double* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = std::exp(x[i]);
}

struct soft {
  template <class C>
  static void columns_of(const C* x, C* y, std::int64_t axis, std::int64_t inner, std::int64_t n) {
    if constexpr (std::is_same_v<C, float>)
      if (inner == 1) return softmax_row(x, y, axis);
    C largest[columns];
    double sum[columns] = {};
    find_largest(x, axis, inner, n, largest);
    for (std::int64_t a = 0; a < axis; ++a) {
      C* const row = y + a * inner;
      for (std::int64_t i = 0; i < n; ++i) row[i] = x[a * inner + i] - largest[i];
      powers(row, n);
      for (std::int64_t i = 0; i < n; ++i) sum[i] += double(row[i]);
    }
    for (std::int64_t a = 0; a < axis; ++a)
      for (std::int64_t i = 0; i < n; ++i) y[a * inner + i] = C(double(y[a * inner + i]) / sum[i]);
  }
};
struct log_soft {
  template <class C>
  static void columns_of(const C* x, C* y, std::int64_t axis, std::int64_t inner, std::int64_t n) {
    if constexpr (std::is_same_v<C, float>)
      if (inner == 1) return log_softmax_row(x, y, axis);
    C largest[columns], row[columns];
    double sum[columns] = {};
    find_largest(x, axis, inner, n, largest);
    for (std::int64_t a = 0; a < axis; ++a) {
      for (std::int64_t i = 0; i < n; ++i) row[i] = x[a * inner + i] - largest[i];
      powers(row, n);
      for (std::int64_t i = 0; i < n; ++i) sum[i] += double(row[i]);
    }
    for (std::int64_t i = 0; i < n; ++i) sum[i] = std::log(sum[i]);
    for (std::int64_t a = 0; a < axis; ++a)
      for (std::int64_t i = 0; i < n; ++i) y[a * inner + i] = C(double(x[a * inner + i] - largest[i]) - sum[i]);
  }
};
/// The first of the largest. A NaN is only ever met when it comes first, and then there is no largest.
struct hard {
  template <class C>
  static void columns_of(const C* x, C* y, std::int64_t axis, std::int64_t inner, std::int64_t n) {
    C largest[columns];
    std::int64_t at[columns] = {};
    for (std::int64_t i = 0; i < n; ++i) largest[i] = x[i];
    for (std::int64_t a = 1; a < axis; ++a)
      for (std::int64_t i = 0; i < n; ++i)
        if (x[a * inner + i] > largest[i]) largest[i] = x[a * inner + i], at[i] = a;
    for (std::int64_t a = 0; a < axis; ++a)
      for (std::int64_t i = 0; i < n; ++i) y[a * inner + i] = C(a == at[i] && largest[i] == largest[i]);
  }
};

}  // namespace

template <class C>
status softmax_state::run_as(run_context& c, column_function<C> rows) const {
  const value& x = c.input(0);
  const std::size_t rank = x.shape.rank();
  std::int64_t a = axis;
  const bool scalar = rank == 0 && (axis == 0 || axis == -1);
  const bool past_end = flattens && axis == std::int64_t(rank);  // then each element stands alone
  if (!scalar && !past_end && !normalize_axis(a, rank))
    return bad_input("axis ", axis, " is not in [-", rank, ",", rank, ") of shape ", x.shape);
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  if (x.shape.count() == 0) return {};
  const std::size_t first_axis = scalar ? 0 : std::size_t(a), next = scalar || flattens ? rank : first_axis + 1;
  const std::int64_t size = x.shape.count(first_axis, next), inner = x.shape.count(next, rank);
  const std::int64_t stretches = (inner + columns - 1) / columns, width = std::min(inner, columns);
  const auto from = row_rooms<C>::make(c, x, size, width), y = row_rooms<C>::make(c, **out, size, width);
  if (!from || !y) return status_code::out_of_memory;
  parallel_rows(c, x.shape.count(0, first_axis) * stretches, std::max<std::int64_t>(1, (1 << 14) / (size * width)),
                [&](std::int64_t first, std::int64_t last, std::size_t lane) {
                  for (std::int64_t unit = first; unit < last; ++unit) {
                    const std::int64_t column = unit % stretches * columns, n = std::min(columns, inner - column);
                    const std::int64_t start = unit / stretches * size * inner + column;
                    const row_block<const C> in = from->read(lane, start, inner, size, n);
                    rows(in.data, y->room(lane, start, inner).data, size, in.step, n);
                    y->store(lane, start, inner, size, n);
                  }
                });
  return {};
}

status softmax_state::run(run_context& c) const {
  return c.input(0).type == dtype::f64 ? run_as(c, in_double) : run_as(c, in_float);
}

template <class Op>
result<softmax<Op>> softmax<Op>::bind(bind_context& c) {
  using kind = std::conditional_t<std::is_same_v<Op, op::Softmax>, soft,
                                  std::conditional_t<std::is_same_v<Op, op::LogSoftmax>, log_soft, hard>>;
  softmax made;
  made.in_float = kind::template columns_of<float>;
  made.in_double = kind::template columns_of<double>;
  made.flattens = c.since < 13;
  made.axis = c.int_or("axis", made.flattens ? 1 : -1);
  c.may_overwrite(0, 0);
  return made;
}

template struct softmax<op::Softmax>;
template struct softmax<op::LogSoftmax>;
template struct softmax<op::Hardmax>;

}  // namespace cameo::inline CAMEO_ABI::eps
