#include <cameo/eps/cpu/arg_extreme.hpp>

#include "common/float_values.hpp"
#include "common/refuse.hpp"

#include <algorithm>

namespace cameo::inline CAMEO_ABI::eps {
namespace {

struct larger {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct smaller {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
template <class F>
struct or_equal {
  template <class T>
  bool operator()(T a, T b) const {
    return F{}(a, b) || a == b;
  }
};

template <class F, class T>
void find_columns(const run_context& c, const void* from, std::int64_t axis, std::int64_t inner, std::int64_t n,
                  std::int64_t* out) {
  const T* const x = static_cast<const T*>(from);
  T best[arg_extreme_state::columns];
  for (std::int64_t i = 0; i < n; ++i) best[i] = x[i], out[i] = 0;
  const std::int64_t some = std::max<std::int64_t>(1, (1 << 15) / n);
  detail::stop_pace pace;
  for (std::int64_t first = 1, last = 0; first < axis && !c.stopped(pace); first = last) {
    last = std::min(axis, first + some);
    for (std::int64_t a = first; a < last; ++a)
      for (std::int64_t i = 0; i < n; ++i)
        if (const T candidate = x[a * inner + i]; F{}(candidate, best[i])) best[i] = candidate, out[i] = a;
  }
}

/// float16 and bfloat16 come as float.
template <class F>
arg_extreme_state::column_function extremes_of_columns(dtype type) {
  return number_elements::visit(type, arg_extreme_state::column_function{},
                                []<class T>(std::type_identity<T>) { return find_columns<F, computed_in<T>>; });
}

}  // namespace

status arg_extreme_state::run(run_context& c) const {
  const value& x = c.input(0);
  std::int64_t a = axis;
  // A scalar is a vector of one to ONNX Runtime; so it is here.
  const bool scalar = x.shape.rank() == 0 && (axis == 0 || axis == -1);
  if (!scalar && !normalize_axis(a, x.shape.rank()))
    return bad_input("axis ", axis, " is not in [-", x.shape.rank(), ",", x.shape.rank(), ") of shape ", x.shape);
  extents shape = x.shape;
  std::int64_t size = 1;
  if (!scalar) {
    size = shape[std::size_t(a)];
    if (keep) shape[std::size_t(a)] = 1;
    else shape.erase(std::size_t(a));
  }
  const result<tensor_view<std::int64_t>> out = c.output<std::int64_t>(0, shape);
  if (!out) return out.error();
  if (out->empty()) return {};
  if (size == 0) return bad_input("axis ", axis, " of shape ", x.shape, " has no elements to choose from");
  const void* from = x.data;
  std::int64_t bytes = row_of(x.type).bits / 8;
  if (x.type == dtype::f16 || x.type == dtype::bf16) {
    const result<std::span<const float>> wide = read_floats<float>(c, x);
    if (!wide) return wide.error();
    from = wide->data(), bytes = sizeof(float);
  }
  const std::int64_t inner = scalar ? 1 : x.shape.count(std::size_t(a) + 1, x.shape.rank());
  const std::int64_t stretches = (inner + columns - 1) / columns, units = out->count() / inner * stretches;
  parallel_for(c, units, std::max<std::int64_t>(1, (1 << 15) / (size * std::min(inner, columns))),
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t unit = first; unit < last; ++unit) {
                   const std::int64_t outer = unit / stretches, column = unit % stretches * columns;
                   find(c, static_cast<const std::byte*>(from) + (outer * size * inner + column) * bytes, size, inner,
                        std::min(columns, inner - column), out->data() + outer * inner + column);
                 }
               });
  return {};
}

template <class Op>
result<arg_extreme<Op>> arg_extreme<Op>::bind(bind_context& c) {
  using better = std::conditional_t<std::is_same_v<Op, op::ArgMax>, larger, smaller>;
  arg_extreme made;
  const dtype type = c.inputs[0].type;
  const bool last = c.int_or("select_last_index", 0) != 0;
  made.find = last ? extremes_of_columns<or_equal<better>>(type) : extremes_of_columns<better>(type);
  if (!made.find) return status{status_code::not_implemented, "no row for this type"};
  made.axis = c.int_or("axis", 0);
  made.keep = c.int_or("keepdims", 1) != 0;
  return made;
}

template struct arg_extreme<op::ArgMax>;
template struct arg_extreme<op::ArgMin>;

}  // namespace cameo::inline CAMEO_ABI::eps
