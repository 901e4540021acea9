#include <cameo/eps/cpu/sort.hpp>
#include <cameo/geometry/gather.hpp>
#include <cameo/geometry/reduction.hpp>

#include "machine/lane_scratch.hpp"
#include "operands/operand_values.hpp"
#include "operands/outputs.hpp"
#include "skeletons/strided_copy.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Compares by a total order and returns -1, 0 or 1. NaN is equal to NaN and greater than all numbers.
template <class T>
int compare(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    const int order = a.compare(b);
    return order < 0 ? -1 : order > 0;
  } else if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
    const int order = compare(a.re, b.re);
    return order ? order : compare(a.im, b.im);
  } else {
    const auto x = widened(a), y = widened(b);
    if (x < y) return -1;
    if (x > y) return 1;
    return x == y ? 0 : int(x != x) - int(y != y);
  }
}

/// Finds the k largest or smallest of a sequence of elements of x, which are `step` apart.
template <class T>
void top_of_lane(const T* x, std::int64_t step, std::span<std::int64_t> order, std::int64_t k, bool largest, T* values,
                 std::int64_t* indices) {
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = std::int64_t(i);
  const auto before = [&](std::int64_t a, std::int64_t b) {
    const int c = compare(x[a * step], x[b * step]);
    return c == 0 ? a < b : largest ? c > 0 : c < 0;
  };
  std::partial_sort(order.begin(), order.begin() + k, order.end(), before);
  for (std::int64_t i = 0; i < k; ++i) {
    if (values) values[i * step] = x[order[std::size_t(i)] * step];
    if (indices) indices[i * step] = order[std::size_t(i)];
  }
}

template <class T>
status top_of(run_context& c, const geometry::top& t, bool largest) {
  const result<T*> values = optional_output<T>(c, 0, t.y);
  const result<std::int64_t*> indices = optional_output<std::int64_t>(c, 1, t.y);
  if (!values) return values.error();
  if (!indices) return indices.error();
  if (extents{t.y}.count() == 0) return {};
  const std::int64_t size = t.size, inner = t.inner, k = t.k;
  const auto orders = lane_scratch<std::int64_t>::make(c, std::size_t(size));
  if (!orders) return orders.error();
  const T* const from = static_cast<const T*>(c.input(0).data);
  c.parallel_lanes(std::size_t(t.outer * inner), [&](std::size_t i, std::size_t lane) {
    const std::int64_t before = std::int64_t(i) / inner, at = std::int64_t(i) % inner;
    const std::int64_t source = before * size * inner + at, target = before * k * inner + at;
    top_of_lane(from + source, inner, {orders->at(lane), std::size_t(size)}, k, largest,
                *values ? *values + target : nullptr, *indices ? *indices + target : nullptr);
  });
  return {};
}

/// The slices along an axis; each consists of `outer` runs of `inner` elements.
template <class T>
struct slices : geometry::selection {
  const T* first;

  int order(std::int64_t a, std::int64_t b) const {
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t i = 0; i < inner; ++i)
        if (const int c = compare(first[(o * size + a) * inner + i], first[(o * size + b) * inner + i])) return c;
    return 0;
  }
};

status write_numbers(run_context& c, std::size_t output, std::span<const std::int64_t> numbers) {
  if (!c.has_output(output)) return {};
  const result<tensor_view<std::int64_t>> made = c.output<std::int64_t>(output, {std::int64_t(numbers.size())});
  if (made) std::copy(numbers.begin(), numbers.end(), made->begin());
  return made.error();
}

/// The indices of the outputs of Unique. An output that the node does not have is not written.
struct unique_outputs {
  std::size_t firsts, inverse, counts;
};

/// The groups of equal slices: the first slice of each and how many it has, and the group of each slice.
struct slice_groups {
  std::span<std::int64_t> firsts, counts, inverse;

  /// Numbers `groups` groups in the order of their first slices. `number` has an element for each.
  void in_order_of_occurrence(std::size_t groups, std::span<std::int64_t> number) {
    std::int64_t next = 0;
    for (std::size_t i = 0; i < inverse.size(); ++i)
      if (const auto g = std::size_t(inverse[i]); firsts[g] == std::int64_t(i)) number[g] = next++;
    for (std::int64_t& g : inverse) g = number[std::size_t(g)];
    std::sort(firsts.begin(), firsts.begin() + std::ptrdiff_t(groups));
    std::fill(counts.begin(), counts.end(), 0);
    for (const std::int64_t g : inverse) ++counts[std::size_t(g)];
  }
};

template <class T>
status unique_of(run_context& c, const std::int64_t* axis, bool sorted, const unique_outputs& to_outputs) {
  const value& x = c.input(0);
  const auto selected = geometry::selection_of<std::int64_t>(x.shape, axis);
  if (!selected) return selected.error();
  const slices<T> all{*selected, static_cast<const T*>(x.data)};
  const auto n = std::size_t(all.size);
  std::span<std::int64_t> order;
  slice_groups g;
  for (std::span<std::int64_t>* list : {&order, &g.firsts, &g.counts, &g.inverse}) {
    const result<std::span<std::int64_t>> memory = c.scratch<std::int64_t>(n);
    if (!memory) return memory.error();
    *list = *memory;
  }

  for (std::size_t i = 0; i < n; ++i) order[i] = std::int64_t(i);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const int o = all.order(a, b);
    return o == 0 ? a < b : o < 0;
  });
  // Groups of equal slices: in each, slices are in the order of their positions, so that firsts[g] is the first of
  // them.
  std::size_t groups = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (i == 0 || all.order(order[i - 1], order[i]) != 0) g.firsts[groups] = order[i], g.counts[groups++] = 0;
    ++g.counts[groups - 1];
    g.inverse[std::size_t(order[i])] = std::int64_t(groups - 1);
  }
  if (!sorted) g.in_order_of_occurrence(groups, order);

  if (c.has_output(0)) {
    const result<tensor_view<T>> y = c.output<T>(0, all.shape_of(std::int64_t(groups)));
    if (!y) return y.error();
    T* to = y->data();
    for (std::int64_t o = 0; o < all.outer && !y->empty(); ++o)
      for (const std::int64_t first : g.firsts.first(groups)) {
        std::copy_n(all.first + (o * all.size + first) * all.inner, all.inner, to);
        to += all.inner;
      }
  }
  if (status s = write_numbers(c, to_outputs.firsts, g.firsts.first(groups)); !s) return s;
  if (status s = write_numbers(c, to_outputs.inverse, g.inverse); !s) return s;
  return write_numbers(c, to_outputs.counts, g.counts.first(groups));
}

}  // namespace

status top_k::run(run_context& c) const {
  const value& x = c.input(0);
  const std::int64_t wanted = c.has_input(1) ? c.input<std::int64_t>(1)[0] : k;
  const auto t = geometry::top_of<std::int64_t>(x.shape, axis, &wanted);
  if (!t) return t.error();
  return elements::visit(x.type, status{}, [&]<class T>(std::type_identity<T>) { return top_of<T>(c, *t, largest); });
}

status unique::run(run_context& c) const {
  return elements::visit(c.input(0).type, status{}, [&]<class T>(std::type_identity<T>) {
    return unique_of<T>(c, axis ? &*axis : nullptr, sorted, {1, 2, 3});
  });
}

status unique_of_list::run(run_context& c) const {
  return elements::visit(c.input(0).type, status{},
                         [&]<class T>(std::type_identity<T>) { return unique_of<T>(c, nullptr, false, {3, 1, 2}); });
}

}  // namespace CAMEO_NAMESPACE::eps
