#include <cameo/eps/cpu/cumulative.hpp>
#include <cameo/geometry/axes.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <functional>

#include "operands/operand_values.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

constexpr std::int64_t columns = 128;

/// The sum or product of two elements; integers wrap.
template <class F, class T>
T join(T a, T b) {
  if constexpr (std::is_integral_v<T>) return T(F{}(std::make_unsigned_t<T>(a), std::make_unsigned_t<T>(b)));
  else return F{}(a, b);
}

/// Accumulates `rows` rows of n elements; F is std::plus<> or std::multiplies<>. `before` contains the last row of
/// earlier results, and receives the last row of these results; it is not read if `starts` is true, as there are no
/// earlier results. If `in` is null, all results are the neutral element.
template <class F, class T>
void accumulate_rows(const void* in, std::int64_t x_step, void* out, std::int64_t y_step, std::int64_t rows,
                     std::int64_t n, void* before, bool starts) {
  const T* x = static_cast<const T*>(in);
  T* y = static_cast<T*>(out);
  const T* last = static_cast<const T*>(before);
  for (std::int64_t r = 0; r < rows; ++r, y += y_step) {
    if (!x) std::fill_n(y, n, T(std::is_same_v<F, std::multiplies<>> ? 1 : 0));
    else if (starts && r == 0) std::copy_n(x, n, y);
    else
      for (std::int64_t i = 0; i < n; ++i) y[i] = join<F>(last[i], x[i]);
    if (x) x += x_step;
    last = y;
  }
  std::copy_n(last, n, static_cast<T*>(before));
}

/// The loop for a type; float16 and bfloat16 are converted to float before.
template <class F>
cumulative_state::column_function sums_along_columns(dtype type) {
  return cumulative_state::elements::visit(
      type, cumulative_state::column_function{},
      []<class T>(std::type_identity<T>) { return accumulate_rows<F, computed_in<T>>; });
}

/// A tensor whose rows are read and written in place or, if its elements are narrow, as float.
struct wide_rows {
  std::byte* data;
  std::int64_t bytes;
  bool narrow;
  row_rooms<float> rooms = {};

  static result<wide_rows> make(run_context& c, const value& v, std::int64_t rows, std::int64_t width) {
    const bool narrow = v.type == dtype::f16 || v.type == dtype::bf16;
    wide_rows made{static_cast<std::byte*>(v.data), std::int64_t(bits_of(v.type)) / 8, narrow};
    if (!narrow) return made;
    const result<row_rooms<float>> rooms = row_rooms<float>::make(c, v, rows, width);
    if (!rooms) return rooms.error();
    made.rooms = *rooms;
    return made;
  }
  row_block<const std::byte> read(std::size_t lane, std::int64_t at, std::int64_t step, std::int64_t rows,
                                  std::int64_t n) const {
    if (!narrow) return {data + at * bytes, step};
    const row_block<const float> wide = rooms.read(lane, at, step, rows, n);
    return {reinterpret_cast<const std::byte*>(wide.data), wide.step};
  }
  row_block<std::byte> room(std::size_t lane, std::int64_t at, std::int64_t step) const {
    if (!narrow) return {data + at * bytes, step};
    const row_block<float> wide = rooms.room(lane, at, step);
    return {reinterpret_cast<std::byte*>(wide.data), wide.step};
  }
  void store(std::size_t lane, std::int64_t at, std::int64_t step, std::int64_t rows, std::int64_t n) const {
    if (narrow) rooms.store(lane, at, step, rows, n);
  }
};

}  // namespace

status cumulative_state::run(run_context& c) const {
  const value& x = c.input(0);
  const auto along = geometry::slices_of<std::int64_t>(x.shape, integers{c.input(1)}[0], "axis");
  if (!along) return along.error();
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  if (x.shape.count() == 0) return {};
  const bool narrow = x.type == dtype::f16 || x.type == dtype::bf16;
  const std::int64_t size = along->size, inner = along->inner;
  const std::int64_t width = std::min(inner, columns), stretches = (inner + columns - 1) / columns;
  const std::int64_t some = std::max<std::int64_t>(1, (narrow ? 1 << 12 : 1 << 15) / width);  // rows at a time
  const auto from = wide_rows::make(c, x, std::min(some, size), width),
             to = wide_rows::make(c, **out, std::min(some, size), width);
  if (!from || !to) return status_code::out_of_memory;
  const std::int64_t step = reverse ? -inner : inner;
  parallel_rows(c, along->outer * stretches, std::max<std::int64_t>(1, (1 << 15) / (size * width)),
                [&](std::int64_t begin, std::int64_t end, std::size_t lane) {
                  detail::stop_pace pace;
                  alignas(8) std::byte before[columns * 8];
                  for (std::int64_t unit = begin; unit < end; ++unit) {
                    const std::int64_t outer = unit / stretches, column = unit % stretches * columns;
                    const std::int64_t n = std::min(columns, inner - column);
                    const std::int64_t start = outer * size * inner + column + (reverse ? (size - 1) * inner : 0);
                    // An exclusive sum begins with a row of neutral elements, and omits the last row of x.
                    for (std::int64_t row = 0, rows = 0; row < size && !c.stopped(pace); row += rows) {
                      const bool nothing = exclusive && row == 0;
                      rows = nothing ? 1 : std::min(size - row, some);
                      const std::int64_t y_at = start + row * step, x_at = y_at - (exclusive ? step : 0);
                      const row_block<const std::byte> in =
                          nothing ? row_block<const std::byte>{} : from->read(lane, x_at, step, rows, n);
                      const row_block<std::byte> made = to->room(lane, y_at, step);
                      accumulate(in.data, in.step, made.data, made.step, rows, n, before, row == 0);
                      to->store(lane, y_at, step, rows, n);
                    }
                  }
                });
  return {};
}

template <class Op>
result<cumulative<Op>> cumulative<Op>::bind(bind_context& c) {
  cumulative made;
  made.accumulate =
      sums_along_columns<std::conditional_t<std::is_same_v<Op, op::CumSum>, std::plus<>, std::multiplies<>>>(
          c.inputs[0].type);
  const attributes_of<Op> a{c.attributes};
  made.exclusive = a.exclusive != 0, made.reverse = a.reverse != 0;
  return made;
}

template struct cumulative<op::CumSum>;
template struct cumulative<op::CumProd>;

}  // namespace CAMEO_NAMESPACE::eps
