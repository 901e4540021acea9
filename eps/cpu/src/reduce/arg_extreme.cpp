#include <cameo/eps/cpu/arg_extreme.hpp>
#include <cameo/geometry/reduction.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <functional>

#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

template <class F, class T>
void find_columns(const void* from, std::int64_t step, std::int64_t first, std::int64_t last, std::int64_t n,
                  void* so_far, std::int64_t* out) {
  const T* x = static_cast<const T*>(from);
  T* const best = static_cast<T*>(so_far);
  if (first == 0) {
    for (std::int64_t i = 0; i < n; ++i) best[i] = x[i], out[i] = 0;
    ++first, x += step;
  }
  for (; first < last; ++first, x += step)
    for (std::int64_t i = 0; i < n; ++i)
      if (F{}(x[i], best[i])) best[i] = x[i], out[i] = first;
}

/// The loop for a type; float16 and bfloat16 are converted to float before.
template <class F>
arg_extreme_state::column_function extremes_of_columns(dtype type) {
  return arg_extreme_state::elements::visit(
      type, arg_extreme_state::column_function{},
      []<class T>(std::type_identity<T>) { return find_columns<F, computed_in<T>>; });
}

}  // namespace

status arg_extreme_state::run(run_context& c) const {
  const value& x = c.input(0);
  const auto along = geometry::extreme_of<std::int64_t>(x.shape, axis, keep);
  if (!along) return along.error();
  const std::int64_t size = along->size, inner = along->inner;
  const result<tensor_view<std::int64_t>> out = c.output<std::int64_t>(0, along->y);
  if (!out) return out.error();
  if (out->empty()) return {};
  const bool narrow = x.type == dtype::f16 || x.type == dtype::bf16;
  const std::int64_t width = std::min(inner, columns), stretches = (inner + columns - 1) / columns;
  const std::int64_t units = along->outer * stretches, bytes = bits_of(x.type) / 8;
  const std::int64_t some = std::max<std::int64_t>(1, (narrow ? 1 << 12 : 1 << 15) / width);  // rows at a time
  const result<row_rooms<float>> rooms =
      narrow ? row_rooms<float>::make(c, x, std::min(some, size), width) : row_rooms<float>{};
  if (!rooms) return rooms.error();
  parallel_rows(c, units, std::max<std::int64_t>(1, (1 << 15) / (size * width)),
                [&](std::int64_t begin, std::int64_t end, std::size_t lane) {
                  detail::stop_pace pace;
                  alignas(8) std::byte best[columns * 8];
                  for (std::int64_t unit = begin; unit < end; ++unit) {
                    const std::int64_t outer = unit / stretches, column = unit % stretches * columns;
                    const std::int64_t start = outer * size * inner + column, n = std::min(columns, inner - column);
                    for (std::int64_t first = 0, last = 0; first < size && !c.stopped(pace); first = last) {
                      last = std::min(size, first + some);
                      const std::int64_t at = start + first * inner;
                      const row_block<const float> wide =
                          narrow ? rooms->read(lane, at, inner, last - first, n) : row_block<const float>{};
                      find(narrow ? static_cast<const void*>(wide.data) : static_cast<std::byte*>(x.data) + at * bytes,
                           narrow ? wide.step : inner, first, last, n, best, out->data() + outer * inner + column);
                    }
                  }
                });
  return {};
}

template <class Op>
result<arg_extreme<Op>> arg_extreme<Op>::bind(bind_context& c) {
  constexpr bool largest = std::is_same_v<Op, op::ArgMax>;
  using better = std::conditional_t<largest, std::greater<>, std::less<>>;
  using as_good = std::conditional_t<largest, std::greater_equal<>, std::less_equal<>>;
  arg_extreme made;
  const dtype type = c.inputs[0].type;
  const attributes_of<Op> a{c.attributes};
  made.find = a.select_last_index ? extremes_of_columns<as_good>(type) : extremes_of_columns<better>(type);
  made.axis = a.axis, made.keep = a.keepdims != 0;
  return made;
}

template struct arg_extreme<op::ArgMax>;
template struct arg_extreme<op::ArgMin>;

}  // namespace CAMEO_NAMESPACE::eps
