#pragma once
#include <cameo/transform/rewriter.hpp>

#include <algorithm>
#include <bit>

/// How operators act on a tensor whose axes are in another order.
namespace CAMEO_NAMESPACE {

/// An order of a tensor's axes: that of Transpose with it as `perm`. Up to max_rank axes.
class axis_order {
 public:
  axis_order() = default;
  explicit axis_order(std::size_t rank) : rank_{std::uint8_t(rank)} {
    for (std::size_t i = 0; i < rank; ++i) axes_[i] = std::uint8_t(i);
  }
  /// std::nullopt for a list that is not a permutation.
  static std::optional<axis_order> read(std::span<const std::int64_t> perm) {
    axis_order made{std::min(perm.size(), max_rank)};
    std::uint32_t seen = 0;
    for (std::size_t i = 0; i < perm.size(); ++i) {
      if (perm.size() > max_rank || perm[i] < 0 || perm[i] >= std::int64_t(perm.size())) return {};
      made.axes_[i] = std::uint8_t(perm[i]);
      seen |= 1u << perm[i];
    }
    if (seen + 1 != 1u << perm.size()) return {};
    return made;
  }
  std::size_t rank() const { return rank_; }
  std::size_t operator[](std::size_t i) const { return axes_[i]; }
  /// The position of an axis.
  std::size_t position(std::size_t axis) const {
    for (std::size_t i = 0; i < rank_; ++i)
      if (axes_[i] == axis) return i;
    return 0;
  }
  axis_order inverse() const {
    axis_order made{rank_};
    for (std::size_t i = 0; i < rank_; ++i) made.axes_[axes_[i]] = std::uint8_t(i);
    return made;
  }
  /// The composition of two orders: this one, followed by `next`.
  axis_order then(const axis_order& next) const {
    axis_order made{rank_};
    for (std::size_t i = 0; i < rank_; ++i) made.axes_[i] = axes_[next.axes_[i]];
    return made;
  }
  /// The order without some axes; the others are numbered anew.
  axis_order remove(std::uint32_t axes) const {
    axis_order made{0};
    for (std::size_t i = 0; i < rank_; ++i)
      if (!(axes >> axes_[i] & 1)) made.axes_[made.rank_++] = std::uint8_t(axes_[i] - count_below(axes, axes_[i]));
    return made;
  }
  /// The order with more axes, which keep their place.
  axis_order insert(std::uint32_t axes, std::size_t rank) const {
    axis_order made{rank};
    std::array<std::uint8_t, max_rank> old{};
    std::size_t count = 0, next = 0;
    for (std::size_t i = 0; i < rank; ++i)
      if (!(axes >> i & 1)) old[count++] = std::uint8_t(i);
    for (std::size_t i = 0; i < rank; ++i)
      if (!(axes >> i & 1)) made.axes_[i] = old[axes_[next++]];
    return made;
  }
  bool changes_nothing() const { return *this == axis_order{rank_}; }
  /// True if only axes of size 1 move in a tensor of this shape.
  bool moves_nothing_in(const std::vector<dim>& shape) const {
    std::size_t last = 0;
    for (std::size_t i = 0; i < rank_; ++i) {
      if (shape[axes_[i]].known() && shape[axes_[i]].size == 1) continue;
      if (axes_[i] < last) return false;
      last = axes_[i];
    }
    return true;
  }
  template <class T>
  std::vector<T> apply(const std::vector<T>& each) const {
    std::vector<T> made;
    for (std::size_t i = 0; i < rank_; ++i) made.push_back(each[axes_[i]]);
    return made;
  }
  std::vector<std::int64_t> perm() const { return {axes_.begin(), axes_.begin() + rank_}; }
  bool operator==(const axis_order&) const = default;

 private:
  static std::size_t count_below(std::uint32_t axes, std::size_t axis) {
    return std::size_t(std::popcount(axes & ((1u << axis) - 1)));
  }
  std::array<std::uint8_t, max_rank> axes_{};
  std::uint8_t rank_ = 0;
};

/// The orders of a node's inputs and outputs.
struct node_orders {
  axis_order in, out;
};

/// The number of a node's first inputs that are data with axes (others are bounds, scales, sizes).
std::size_t data_inputs(const node_view&);
/// True if each output element depends only on the element at the same position in the first input.
bool maps_elements(const node_view&);
/// True if a data input has fewer axes than the others and is stretched to them.
bool is_stretched(rewriter&, const node_view&, std::size_t input);
/// The orders of inputs and outputs if a data input (not a stretched one) has this order; std::nullopt if the operator
/// does not support it, as far as its other inputs are known.
std::optional<node_orders> orders_from_input(rewriter&, const node_view&, std::size_t input, const axis_order&);
/// The orders of inputs and outputs if the outputs have this order.
std::optional<node_orders> orders_from_output(rewriter&, const node_view&, const axis_order&);
/// Changes attributes and constant inputs so that the node does the same to data in another order; the caller changes
/// data inputs and outputs. For nodes for which orders_from_input() or orders_from_output() succeeded.
void reorder_node(rewriter&, node_id, const node_orders&);

/// Adds an int64 vector to the graph's constants.
value_id add_ints(rewriter&, std::string_view stem, std::span<const std::int64_t>);

}  // namespace CAMEO_NAMESPACE
