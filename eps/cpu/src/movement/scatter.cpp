#include <cameo/eps/cpu/scatter.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "operands/index_rows.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Reduces two elements. Integers wrap; the minimum and maximum of a number and NaN are NaN.
template <class T>
T combine(T a, T b, scatter_reduction how) {
  if constexpr (std::is_same_v<T, bool>) {
    return how == scatter_reduction::add || how == scatter_reduction::max ? a || b : a && b;
  } else if constexpr (std::is_integral_v<T>) {
    switch (how) {
      case scatter_reduction::add: return T(std::uint64_t(a) + std::uint64_t(b));
      case scatter_reduction::mul: return T(std::uint64_t(a) * std::uint64_t(b));
      case scatter_reduction::min: return std::min(a, b);
      default: return std::max(a, b);
    }
  } else {
    const auto x = widened(a), y = widened(b);
    switch (how) {
      case scatter_reduction::add: return T(x + y);
      case scatter_reduction::mul: return T(x * y);
      case scatter_reduction::min: return x != x || x < y ? a : b;
      default: return x != x || x > y ? a : b;
    }
  }
}

/// Reduces `count` elements of `updates` from i on into those of `y` from j on.
using combine_function = void (*)(const value& y, std::int64_t j, const value& updates, std::int64_t i,
                                  std::int64_t count, scatter_reduction);
template <class T>
void combine_block(const value& y, std::int64_t j, const value& updates, std::int64_t i, std::int64_t count,
                   scatter_reduction how) {
  T* const to = static_cast<T*>(y.data) + j;
  const T* const from = static_cast<const T*>(updates.data) + i;
  for (std::int64_t k = 0; k < count; ++k) to[k] = combine(to[k], from[k], how);
}
void replace_block(const value& y, std::int64_t j, const value& updates, std::int64_t i, std::int64_t count,
                   scatter_reduction) {
  const std::size_t size = element_bytes(y.type);
  move_block(bytes_of(y) + std::size_t(j) * size, bytes_of(updates) + std::size_t(i) * size, std::size_t(count) * size);
}

combine_function choose(dtype type, scatter_reduction how) {
  if (how == scatter_reduction::none) return replace_block;
  return number_and_truth_elements::visit(type, combine_function{},
                                          []<class T>(std::type_identity<T>) { return combine_block<T>; });
}

/// Makes the output, a copy of the data. If the output has the memory of the updates, as data and updates are the same
/// value, these are copied to scratch memory first.
result<value*> copy_of_data(run_context& c, value& updates) {
  const value& x = c.input(0);
  result<value*> y = c.output(0, x.shape);
  if (!y) return y;
  if ((*y)->data == updates.data && updates.bytes() > 0) {
    result<std::span<std::byte>> moved = c.scratch<std::byte>(updates.bytes());
    if (!moved) return moved.error();
    std::memcpy(moved->data(), updates.data, updates.bytes());
    updates.data = moved->data();
  }
  copy_bytes(c, (*y)->data, x.data, (*y)->bytes());
  return y;
}

}  // namespace

bool scatter_elements::accepts(const bind_context& c) {
  const attributes_of<op::ScatterElements> a{c.attributes};
  if (a.reduction == scatter_reduction::none || c.inputs.empty()) return true;
  return (detail::bit_of(c.inputs[0].type) & number_and_truth_elements::mask) != 0;
}

result<scatter_elements> scatter_elements::bind(bind_context& c) {
  c.may_overwrite(0, 0);
  const attributes_of<op::ScatterElements> a{c.attributes};
  return scatter_elements{a.axis, a.reduction};
}
status scatter_elements::run(run_context& c) const {
  const value &x = c.input(0), &indices = c.input(1);
  value updates = c.input(2);
  const result<index_rows> rows = index_rows::make(x, indices, axis, updates.shape);
  if (!rows) return rows.error();
  const combine_function write = choose(x.type, reduction);
  result<value*> y = copy_of_data(c, updates);
  if (!y) return y.error();
  for (std::int64_t row = 0; row < rows->rows(); ++row)
    rows->each(row, [&](std::int64_t i, std::int64_t target) { write(**y, target, updates, i, 1, reduction); });
  return {};
}

result<scatter_nd> scatter_nd::bind(bind_context& c) {
  c.may_overwrite(0, 0);
  return scatter_nd{attributes_of<op::ScatterND>{c.attributes}.reduction};
}
status scatter_nd::run(run_context& c) const {
  const value &x = c.input(0), &indices = c.input(1);
  value updates = c.input(2);
  const result<index_tuples> tuples = index_tuples::make(x, indices, 0, updates.shape);
  if (!tuples) return tuples.error();
  const combine_function write = choose(x.type, reduction);
  result<value*> y = copy_of_data(c, updates);
  if (!y) return y.error();
  if (tuples->block == 0) return {};
  for (std::int64_t i = 0; i < tuples->count; ++i)
    write(**y, (*tuples)[i], updates, i * tuples->block, tuples->block, reduction);
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
