#pragma once
#include <cameo/eps/cpu/reduce.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace cameo::inline CAMEO_ABI::eps {

/// The loops of a reduction: neighbouring axes that stay, or go, are one. The innermost one apart: it is a row.
struct reduce_loops {
  struct axis {
    std::int64_t size, stride;
  };
  struct nest {
    std::array<axis, max_rank> axes;  // innermost first
    std::size_t depth = 0;
    std::int64_t count = 1;
  };
  nest kept, gone;                   // without the row
  std::int64_t row = 1;              // its elements
  bool row_stays = false;            // each element of a row then belongs to another output
  std::int64_t reduced = 1;          // elements per output
  const run_context* run = nullptr;  // asked while an output takes long

  static constexpr std::int64_t columns = 256;  // of a row that stays, at a time
  /// What work is divided into: outputs, or stretches of columns.
  std::int64_t units() const { return row_stays ? kept.count * ((row + columns - 1) / columns) : kept.count; }
  std::int64_t outputs() const { return row_stays ? kept.count * row : kept.count; }

  /// The input has elements.
  void make(const extents& shape, std::uint32_t gone_axes);
  /// Of no input at all: `outputs` of nothing.
  void make_empty(std::int64_t outputs) {
    *this = {};
    row = outputs, row_stays = true, reduced = 0, gone.count = 0;
  }
};

/// Goes through the elements of a nest, from any of them on.
class odometer {
 public:
  odometer(const reduce_loops::nest& nest, std::int64_t start) : nest_{nest} {
    for (std::size_t i = 0; i < nest.depth; ++i) {
      index_[i] = start % nest.axes[i].size;
      start /= nest.axes[i].size;
      offset_ += index_[i] * nest.axes[i].stride;
    }
  }
  std::int64_t offset() const { return offset_; }
  void next() {
    for (std::size_t i = 0; i < nest_.depth; ++i) {
      offset_ += nest_.axes[i].stride;
      if (++index_[i] < nest_.axes[i].size) return;
      offset_ -= nest_.axes[i].size * nest_.axes[i].stride;
      index_[i] = 0;
    }
  }

 private:
  const reduce_loops::nest& nest_;
  std::array<std::int64_t, max_rank> index_{};
  std::int64_t offset_ = 0;
};

/// Asks, after some elements each, whether the run should end: one output may be a sum of very many.
class element_count {
 public:
  explicit element_count(const reduce_loops& loops) : run_{loops.reduced > some ? loops.run : nullptr} {}
  static constexpr std::int64_t some = 1 << 14;
  bool stopped(std::int64_t taken) {
    if (!run_ || (taken_ += taken) < some) return false;
    taken_ = 0;
    return run_->stopped(pace_);
  }

 private:
  const run_context* run_;
  std::int64_t taken_ = 0;
  detail::stop_pace pace_;
};

/// F: `state` (default: of nothing), take(state&, T), merge(state&, const state&), T result(const state&, count);
/// perhaps T of_row(x, count).
template <class F, class T>
T reduce_to_one(const reduce_loops& loops, const T* x) {
  constexpr std::int64_t lanes = 8;  // as many sums at a time, so that they make a vector
  constexpr std::int64_t longest = 1 << 18;
  if constexpr (requires { F::of_row(x, loops.row); })  // the whole row at once
    if (loops.gone.count == 1 && loops.row <= longest) return F::of_row(x, loops.row);
  typename F::state states[lanes];
  element_count count{loops};
  odometer from{loops.gone, 0};
  for (std::int64_t g = 0; g < loops.gone.count; ++g, from.next()) {
    const T* const row = x + from.offset();
    for (std::int64_t i = 0, end = 0; i < loops.row; i = end) {
      end = std::min(loops.row, i + element_count::some);
      if (count.stopped(end - i)) return T{};
      for (; i + lanes <= end; i += lanes)
        for (std::int64_t l = 0; l < lanes; ++l) F::take(states[l], row[i + l]);
      for (; i < end; ++i) F::take(states[i % lanes], row[i]);
    }
  }
  for (std::int64_t step = lanes / 2; step > 0; step /= 2)
    for (std::int64_t l = 0; l < step; ++l) F::merge(states[l], states[l + step]);
  return F::result(states[0], loops.reduced);
}

template <class F, class T>
void reduce_columns(const reduce_loops& loops, const T* x, std::int64_t n, T* y) {
  typename F::state states[reduce_loops::columns];
  element_count count{loops};
  odometer from{loops.gone, 0};
  for (std::int64_t g = 0; g < loops.gone.count; ++g, from.next()) {
    if (count.stopped(n)) return;
    const T* const row = x + from.offset();
    for (std::int64_t i = 0; i < n; ++i) F::take(states[i], row[i]);
  }
  for (std::int64_t i = 0; i < n; ++i) y[i] = F::result(states[i], loops.reduced);
}

/// Units [first, last) of the outputs.
template <class F, class T>
void reduce_rows(const reduce_loops& loops, const void* in, void* out, std::int64_t first, std::int64_t last) {
  const T* const x = static_cast<const T*>(in);
  T* const y = static_cast<T*>(out);
  if (!loops.row_stays) {
    odometer kept{loops.kept, first};
    for (std::int64_t i = first; i < last; ++i, kept.next()) y[i] = reduce_to_one<F, T>(loops, x + kept.offset());
    return;
  }
  const std::int64_t stretches = (loops.row + reduce_loops::columns - 1) / reduce_loops::columns;
  for (std::int64_t unit = first; unit < last; ++unit) {
    const std::int64_t row = unit / stretches, column = unit % stretches * reduce_loops::columns;
    const std::int64_t n = std::min(reduce_loops::columns, loops.row - column);
    reduce_columns<F, T>(loops, x + odometer{loops.kept, row}.offset() + column, n, y + row * loops.row + column);
  }
}

/// Integers that wrap, in 64 bits; float and double in double.
template <class T>
using accumulator = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

/// Cut towards zero, held at the ends; NaN is 0.
template <class T>
T number_from(double x) {
  if constexpr (std::is_integral_v<T>) {
    if (!(x > double(std::numeric_limits<T>::min()))) return x == x ? std::numeric_limits<T>::min() : T{};
    return x >= double(std::numeric_limits<T>::max()) ? std::numeric_limits<T>::max() : T(x);
  } else {
    return T(x);
  }
}

/// The rows of an operator for a type, or null; float16 and bfloat16 have those of float. Where they are compiled, they
/// are specialised.
template <class Op>
reduce_state::row_function reduction_for(dtype type);
template <>
reduce_state::row_function reduction_for<op::ReduceSum>(dtype type);
template <>
reduce_state::row_function reduction_for<op::ReduceMean>(dtype type);
template <>
reduce_state::row_function reduction_for<op::ReduceMax>(dtype type);
template <>
reduce_state::row_function reduction_for<op::ReduceMin>(dtype type);
template <>
reduce_state::row_function reduction_for<op::ReduceProd>(dtype type);
template <>
reduce_state::row_function reduction_for<op::ReduceL1>(dtype type);
template <>
reduce_state::row_function reduction_for<op::ReduceL2>(dtype type);
template <>
reduce_state::row_function reduction_for<op::ReduceLogSum>(dtype type);
template <>
reduce_state::row_function reduction_for<op::ReduceLogSumExp>(dtype type);
template <>
reduce_state::row_function reduction_for<op::ReduceSumSquare>(dtype type);

}  // namespace cameo::inline CAMEO_ABI::eps
