#include <cameo/eps/cpu/generate.hpp>
#include <cameo/geometry/gather.hpp>

#include "operands/operand_values.hpp"
#include "skeletons/strided_copy.hpp"

#include <algorithm>
#include <cmath>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Returns the number of steps of delta in [start, limit); negative if it is not a number or too large.
template <class T>
std::int64_t steps_between(T start, T limit, T delta) {
  if constexpr (std::is_integral_v<T>) {
    if (delta > 0 ? start >= limit : start <= limit) return 0;
    const std::uint64_t way =
        delta > 0 ? std::uint64_t(limit) - std::uint64_t(start) : std::uint64_t(start) - std::uint64_t(limit);
    const std::uint64_t step = delta > 0 ? std::uint64_t(delta) : -std::uint64_t(delta);
    const std::uint64_t count = (way - 1) / step + 1;
    return count > std::uint64_t(INT64_MAX) ? -1 : std::int64_t(count);
  } else {
    const double count = std::ceil(double(limit - start) / double(delta));
    if (!(count < 9e18)) return -1;
    return count > 0 ? std::int64_t(count) : 0;
  }
}

template <class T>
status make_range(run_context& c) {
  using number = decltype(widened(T{}));
  const number start = widened(c.input<T>(0)[0]), limit = widened(c.input<T>(1)[0]);
  const number delta = c.has_input(2) ? widened(c.input<T>(2)[0]) : number(1);
  if (delta == number{}) return bad_input("delta is 0");
  const std::int64_t count = steps_between(start, limit, delta);
  if (status s = check_fits("the range", count >= 0); !s) return s;
  const result<tensor_view<T>> y = c.output<T>(0, {count});
  if (!y) return y.error();
  parallel_for(c, count, 1 << 14, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      if constexpr (std::is_integral_v<T>) (*y)[i] = T(std::uint64_t(start) + std::uint64_t(i) * std::uint64_t(delta));
      else (*y)[i] = T(start + number(i) * delta);
    }
  });
  return {};
}

template <class T>
bool is_zero(const T& v) {
  if constexpr (std::is_same_v<T, std::string_view>) return v.empty();
  else if constexpr (is_narrow_float<T>) return float(v) == 0;
  else return v == T{};
}

}  // namespace

status range_of::run(run_context& c) const {
  return elements::visit(c.input(0).type, status{}, [&]<class T>(std::type_identity<T>) { return make_range<T>(c); });
}

status non_zero::run(run_context& c) const {
  const value& x = c.input(0);
  const extents shape = x.shape.rank() == 0 ? extents{1} : x.shape;  // a scalar counts as [1], as in ONNX Runtime
  const std::size_t rank = shape.rank();
  return elements::visit(x.type, status{}, [&]<class T>(std::type_identity<T>) -> status {
    const tensor_view<const T> all = x.as_unchecked<T>();
    std::int64_t count = 0;
    for (const T& v : all) count += !is_zero(v);
    const result<tensor_view<std::int64_t>> y = c.output<std::int64_t>(0, {std::int64_t(rank), count});
    if (!y) return y.error();
    if (count == 0) return {};
    extents at;
    at.resize(rank, 0);
    std::int64_t* column = y->data();
    for (const T& v : all) {
      if (!is_zero(v)) {
        for (std::size_t i = 0; i < rank; ++i) column[std::int64_t(i) * count] = at[i];
        ++column;
      }
      for (std::size_t i = rank; i-- > 0 && ++at[i] == shape[i];) at[i] = 0;
    }
    return {};
  });
}

status one_hot::run(run_context& c) const {
  const value &indices = c.input(0), &values = c.input(2);
  const std::size_t bytes = element_bytes(values.type);
  std::int64_t depth = 0;
  if (status s = read_integer(c.input(1), "depth", depth); !s) return s;
  const auto made = geometry::one_hot_of<std::int64_t>(indices.shape, axis, &depth);
  if (!made) return made.error();
  const result<value*> y = c.output(0, made->y);
  if (!y) return y.error();
  const std::int64_t inner = made->inner, count = indices.shape.count();
  fill(c, (*y)->data, (*y)->shape.count(), values.data, bytes);
  if (count == 0) return {};
  const std::byte* const on = bytes_of(values) + bytes;
  number_elements::call(indices.type, [&]<class T>(std::type_identity<T>) {
    const T* const all = static_cast<const T*>(indices.data);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t index = 0;
      if (!to_integer(all[i], index) || index < -depth || index >= depth) continue;
      if (index < 0) index += depth;
      const std::int64_t target = (i / inner * depth + index) * inner + i % inner;
      move_block(bytes_of(**y) + std::size_t(target) * bytes, on, bytes);
    }
  });
  return {};
}

status eye_like::run(run_context& c) const {
  const extents shape = c.input(0).shape;
  const result<value*> y = c.output(0, shape);
  if (!y) return y.error();
  elements::call((*y)->type, [&]<class T>(std::type_identity<T>) {
    T* const to = static_cast<T*>((*y)->data);
    const T zero{}, one = T(1.0f);
    fill(c, to, shape.count(), &zero, sizeof(T));
    if (k <= -shape[0] || k >= shape[1]) return;
    for (std::int64_t i = std::max<std::int64_t>(0, -k); i < shape[0] && i + k < shape[1]; ++i)
      to[i * shape[1] + i + k] = one;
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
