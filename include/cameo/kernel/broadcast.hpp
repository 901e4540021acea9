#pragma once
#include <cameo/geometry/broadcast.hpp>

#include <algorithm>
#include <array>

namespace CAMEO_NAMESPACE {

/// The loops of an elementwise operation whose N operands broadcast to one output. Axes that all operands treat alike
/// are merged, so that few and long rows remain: equal shapes make one row, as does a scalar operand, with step 0; a
/// bias along the last axis makes rows of that axis. Allocates nothing. Const functions are thread-safe.
template <std::size_t N>
class broadcast_loops {
 public:
  /// One position per operand, in elements.
  using positions = std::array<std::int64_t, N>;

  /// The operands must have a common shape (geometry::common_shape); messages call them "operand 0" and so on.
  status make(const std::array<const extents*, N>& operands) {
    shape_ = *operands[0];
    const auto is_alike = [&](const extents* each) { return *each == shape_; };
    const bool are_alike = std::all_of(operands.begin() + 1, operands.end(), is_alike);
    for (std::size_t i = 1; !are_alike && i < N; ++i)
      if (!geometry::detail::join_shape<std::int64_t>(*operands[i], shape_))
        return geometry::common_shape{geometry::shape_view<std::int64_t>{shape_}}.add(*operands[i], {"operand ", i});
    loops_ = 0;
    if (!shape_.checked_count(count_)) count_ = 0;  // allocating such an output fails later
    if (are_alike) make_one_row();
    else if (count_ > 0) merge_axes(operands);
    return {};
  }

  const extents& shape() const { return shape_; }
  /// The number of elements of the output; 0 when that number overflows.
  std::int64_t count() const { return count_; }
  /// The number of elements of a row.
  std::int64_t row_length() const { return loops_ ? loop_[0].size : 1; }
  /// The distance of each operand from one element of a row to the next: 1, or 0 where the operand repeats one element.
  const positions& steps() const { return steps_; }

  /// Calls f(out, in, n) for the parts of rows that make up the elements [first, last) of the output: n elements from
  /// `out` on, computed from each operand's elements from in[i] on, in steps of steps()[i].
  template <class F>
  [[gnu::always_inline]] void rows(std::int64_t first, std::int64_t last, F&& f) const {
    if (first >= last) return;
    const std::int64_t length = row_length();
    std::int64_t column = first % length, row = first / length;
    std::array<std::int64_t, max_rank> index{};
    positions start{};
    for (std::size_t l = 1; l < loops_; ++l) {
      index[l] = row % loop_[l].size;
      row /= loop_[l].size;
      for (std::size_t i = 0; i < N; ++i) start[i] += index[l] * loop_[l].stride[i];
    }
    while (first < last) {
      const std::int64_t n = std::min(length - column, last - first);
      positions in = start;
      for (std::size_t i = 0; i < N; ++i) in[i] += column * steps_[i];
      f(first, in, n);
      first += n;
      column = 0;
      next_row(index, start);
    }
  }

 private:
  struct loop {
    std::int64_t size;
    positions stride;
    std::array<bool, N> moves;
  };

  /// Operands of equal shapes, which most nodes have.
  void make_one_row() {
    steps_.fill(1);
    loop_[loops_++] = {std::max<std::int64_t>(1, count_), steps_, {}};
  }

  void merge_axes(const std::array<const extents*, N>& operands) {
    positions stride;
    stride.fill(1);
    for (std::size_t from_back = 1; from_back <= shape_.rank(); ++from_back) {
      const std::int64_t size = shape_[shape_.rank() - from_back];
      if (size == 1) continue;
      loop axis{size, {}, {}};
      for (std::size_t i = 0; i < N; ++i) {
        const extents& operand = *operands[i];
        axis.moves[i] = from_back <= operand.rank() && operand[operand.rank() - from_back] != 1;
        if (!axis.moves[i]) continue;
        axis.stride[i] = stride[i];
        stride[i] *= size;
      }
      if (loops_ && loop_[loops_ - 1].moves == axis.moves) loop_[loops_ - 1].size *= size;
      else loop_[loops_++] = axis;
    }
    for (std::size_t i = 0; i < N; ++i) steps_[i] = loops_ ? loop_[0].stride[i] : 0;
  }

  void next_row(std::array<std::int64_t, max_rank>& index, positions& start) const {
    for (std::size_t l = 1; l < loops_; ++l) {
      for (std::size_t i = 0; i < N; ++i) start[i] += loop_[l].stride[i];
      if (++index[l] < loop_[l].size) return;
      for (std::size_t i = 0; i < N; ++i) start[i] -= loop_[l].size * loop_[l].stride[i];
      index[l] = 0;
    }
  }

  extents shape_;
  std::int64_t count_ = 0;
  std::size_t loops_ = 0;            // innermost first
  std::array<loop, max_rank> loop_;  // loops_ are set; setting the others would take longer than a small row
  positions steps_{};
};

}  // namespace CAMEO_NAMESPACE
