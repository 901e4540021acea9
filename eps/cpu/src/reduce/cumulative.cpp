#include <cameo/eps/cpu/cumulative.hpp>

#include "common/float_values.hpp"
#include "common/refuse.hpp"

#include <algorithm>

namespace cameo::inline CAMEO_ABI::eps {
namespace {

struct sums {
  static constexpr int start = 0;
  template <class T>
  static T join(T a, T b) {
    if constexpr (std::is_integral_v<T>) return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
    else return a + b;
  }
};
struct products {
  static constexpr int start = 1;
  template <class T>
  static T join(T a, T b) {
    if constexpr (std::is_integral_v<T>) return T(std::make_unsigned_t<T>(a) * std::make_unsigned_t<T>(b));
    else return a * b;
  }
};

template <class F, class T>
void accumulate_columns(const void* in, void* out, std::int64_t axis, std::int64_t step, std::int64_t n,
                        bool exclusive) {
  const T* const x = static_cast<const T*>(in);
  T* const y = static_cast<T*>(out);
  for (std::int64_t i = 0; i < n; ++i) y[i] = exclusive ? T(F::start) : x[i];
  for (std::int64_t a = 1; a < axis; ++a) {
    const T* const next = x + (exclusive ? a - 1 : a) * step;
    const T* const before = y + (a - 1) * step;
    T* const to = y + a * step;
    for (std::int64_t i = 0; i < n; ++i) to[i] = F::join(before[i], next[i]);
  }
}

/// float16 and bfloat16 come as float.
template <class F>
cumulative_state::column_function sums_along_columns(dtype type) {
  return large_number_elements::visit(type, cumulative_state::column_function{}, []<class T>(std::type_identity<T>) {
    return accumulate_columns<F, computed_in<T>>;
  });
}

status read_axis(const value& v, std::size_t rank, std::int64_t& axis) {
  if (v.shape.count() != 1) return bad_input("axis must be a scalar, not of shape ", v.shape);
  axis = v.type == dtype::i32 ? *static_cast<const std::int32_t*>(v.data) : *static_cast<const std::int64_t*>(v.data);
  const std::int64_t given = axis;
  if (!normalize_axis(axis, rank))
    return bad_input("axis ", given, " is not in [-", rank, ",", rank, ") of an input of rank ", rank);
  return {};
}

}  // namespace

status cumulative_state::run(run_context& c) const {
  const value& x = c.input(0);
  std::int64_t axis = 0;
  if (status read = read_axis(c.input(1), x.shape.rank(), axis); !read) return read;
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  if (x.shape.count() == 0) return {};
  const bool narrow = x.type == dtype::f16 || x.type == dtype::bf16;
  const void* from = x.data;
  void* to = (*out)->data;
  std::int64_t bytes = row_of(x.type).bits / 8;
  if (narrow) {
    const result<std::span<const float>> wide = read_floats<float>(c, x);
    if (!wide) return wide.error();
    const result<std::span<float>> wide_out = c.scratch<float>(wide->size());
    if (!wide_out) return wide_out.error();
    from = wide->data(), to = wide_out->data(), bytes = sizeof(float);
  }
  const auto a = std::size_t(axis);
  const std::int64_t size = x.shape[a], inner = x.shape.count(a + 1, x.shape.rank());
  const std::int64_t columns = 128, stretches = (inner + columns - 1) / columns;
  parallel_for(
      c, x.shape.count(0, a) * stretches, std::max<std::int64_t>(1, (1 << 15) / (size * std::min(inner, columns))),
      [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t unit = first; unit < last; ++unit) {
          const std::int64_t outer = unit / stretches, column = unit % stretches * columns;
          const std::int64_t start = outer * size * inner + column + (reverse ? (size - 1) * inner : 0);
          accumulate(static_cast<const std::byte*>(from) + start * bytes, static_cast<std::byte*>(to) + start * bytes,
                     size, reverse ? -inner : inner, std::min(columns, inner - column), exclusive);
        }
      });
  if (narrow) store_floats(static_cast<const float*>(to), x.type, (*out)->data, x.shape.count());
  return {};
}

template <class Op>
result<cumulative<Op>> cumulative<Op>::bind(bind_context& c) {
  cumulative made;
  made.accumulate =
      sums_along_columns<std::conditional_t<std::is_same_v<Op, op::CumSum>, sums, products>>(c.inputs[0].type);
  if (!made.accumulate) return status{status_code::not_implemented, "no row for this type"};
  made.exclusive = c.int_or("exclusive", 0) != 0;
  made.reverse = c.int_or("reverse", 0) != 0;
  return made;
}

template struct cumulative<op::CumSum>;
template struct cumulative<op::CumProd>;

}  // namespace cameo::inline CAMEO_ABI::eps
