#pragma once
#include <cameo/eps/cpu/reduce.hpp>

#include <algorithm>
#include <array>

#include "float_values.hpp"
#include "functions/folds.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The loops of a reduction. Neighboring axes that are both kept, or both reduced (`gone`), are merged into one. The
/// innermost of these is separate: it is called the row.
struct reduce_loops {
  struct axis {
    std::int64_t size, stride;
  };
  struct nest {
    std::array<axis, max_rank> axes;  // innermost first
    std::size_t depth = 0;
    std::int64_t count = 1;
  };
  nest kept, gone;                   // the axes that are kept and reduced, without the row
  std::int64_t row = 1;              // elements of the row
  bool row_stays = false;            // the row is kept, so that each of its elements belongs to another output
  std::int64_t reduced = 1;          // elements that are reduced to one output
  const run_context* run = nullptr;  // for stop checks within an output

  static constexpr std::int64_t columns = 256;  // elements of a kept row that are computed at a time
  /// The number of units of work: one output each, or `columns` of them if the row is kept.
  std::int64_t units() const { return row_stays ? kept.count * ((row + columns - 1) / columns) : kept.count; }
  std::int64_t outputs() const { return row_stays ? kept.count * row : kept.count; }

  /// Sets the loops for an input that has elements; bit a of `gone_axes` is set if axis a is reduced.
  void make(const extents& shape, std::uint32_t gone_axes);
  /// Sets the loops for an empty input, whose `outputs` outputs are each the reduction of no elements.
  void make_empty(std::int64_t outputs) {
    *this = {};
    row = outputs, row_stays = true, reduced = 0, gone.count = 0;
  }
};

/// Iterates over the elements of a nest, from element `start` on, and gives their offsets.
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

/// Checks for a stop of the run after each `some` elements, since one output may be the reduction of very many.
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

/// The input and output of a reduction, which have the same type.
struct reduced_tensors {
  dtype type;
  const void* x;
  void* y;
  float* room = nullptr;  // a buffer of the worker for widened float16 or bfloat16, of reduce_room() elements
};
constexpr std::int64_t longest_row = 1 << 18;  // the longest row that is passed to a fold at once
inline std::int64_t reduce_room(const reduce_loops& loops) {
  if (loops.row_stays) return std::min(loops.row, reduce_loops::columns);
  return std::min(loops.row, loops.gone.count == 1 && loops.row <= longest_row ? longest_row : element_count::some);
}

/// Reads a tensor as elements of T, the type that is computed with: in place, or widened in a buffer of the worker.
template <class T>
struct wide_rows {
  dtype type;
  const void* data;
  float* room;  // the buffer, for float16 and bfloat16; else null

  /// The n elements from `first` on, valid until the next call.
  const T* at(std::int64_t first, std::int64_t n) const {
    if constexpr (std::is_same_v<T, float>)
      if (room) {
        convert_floats(type, static_cast<const std::byte*>(data) + first * (bits_of(type) / 8), room, n);
        return room;
      }
    return static_cast<const T*>(data) + first;
  }
};

/// Reduces elements from `start` on to one output. F is the operator's fold (see functions/folds.hpp).
template <class F, class T>
T reduce_to_one(const reduce_loops& loops, const wide_rows<T>& x, std::int64_t start) {
  constexpr std::int64_t lanes = 8;  // partial results, so that compilers can vectorize the loop
  if constexpr (requires(const T* row) { F::of_row(row, loops.row); })
    if (loops.gone.count == 1 && loops.row <= longest_row) return F::of_row(x.at(start, loops.row), loops.row);
  typename F::state states[lanes];
  element_count count{loops};
  odometer from{loops.gone, 0};
  for (std::int64_t g = 0; g < loops.gone.count; ++g, from.next()) {
    for (std::int64_t done = 0, n = 0; done < loops.row; done += n) {
      n = std::min(loops.row - done, element_count::some);
      if (count.stopped(n)) return T{};
      const T* const row = x.at(start + from.offset() + done, n);
      std::int64_t i = 0;
      for (; i + lanes <= n; i += lanes)
        for (std::int64_t l = 0; l < lanes; ++l) F::take(states[l], row[i + l]);
      for (; i < n; ++i) F::take(states[i % lanes], row[i]);
    }
  }
  for (std::int64_t step = lanes / 2; step > 0; step /= 2)
    for (std::int64_t l = 0; l < step; ++l) F::merge(states[l], states[l + step]);
  return F::result(states[0], loops.reduced);
}

/// Reduces to n outputs, which are neighbors in the input.
template <class F, class T>
void reduce_columns(const reduce_loops& loops, const wide_rows<T>& x, std::int64_t start, std::int64_t n, T* y) {
  typename F::state states[reduce_loops::columns];
  element_count count{loops};
  odometer from{loops.gone, 0};
  for (std::int64_t g = 0; g < loops.gone.count; ++g, from.next()) {
    if (count.stopped(n)) return;
    const T* const row = x.at(start + from.offset(), n);
    for (std::int64_t i = 0; i < n; ++i) F::take(states[i], row[i]);
  }
  for (std::int64_t i = 0; i < n; ++i) y[i] = F::result(states[i], loops.reduced);
}

/// Converts n outputs from T, the type they were computed in, to the output's type.
template <class T>
void store_row(const T* from, dtype type, void* to, std::int64_t first, std::int64_t n) {
  if constexpr (std::is_same_v<T, float>)
    if (type != dtype::f32)
      return store_floats(from, type, static_cast<std::byte*>(to) + first * (bits_of(type) / 8), n);
  std::copy_n(from, n, static_cast<T*>(to) + first);
}

/// Computes units [first, last) of reduce_loops::units().
template <class F, class T>
void reduce_units(const reduce_loops& loops, const reduced_tensors& u, std::int64_t first, std::int64_t last) {
  const wide_rows<T> x{u.type, u.x, u.room};
  T made[reduce_loops::columns];
  if (!loops.row_stays) {
    odometer kept{loops.kept, first};
    for (std::int64_t n = 0; first < last; first += n) {
      n = std::min(last - first, reduce_loops::columns);
      for (std::int64_t i = 0; i < n; ++i, kept.next()) made[i] = reduce_to_one<F, T>(loops, x, kept.offset());
      store_row(made, u.type, u.y, first, n);
    }
    return;
  }
  const std::int64_t stretches = (loops.row + reduce_loops::columns - 1) / reduce_loops::columns;
  for (std::int64_t unit = first; unit < last; ++unit) {
    const std::int64_t row = unit / stretches, column = unit % stretches * reduce_loops::columns;
    const std::int64_t n = std::min(reduce_loops::columns, loops.row - column);
    reduce_columns<F, T>(loops, x, odometer{loops.kept, row}.offset() + column, n, made);
    store_row(made, u.type, u.y, row * loops.row + column, n);
  }
}

/// The loops of a reduction operator for elements of T.
template <class Op, class T>
consteval reduce_state::row_function units_of() {
  using C = computed<T>;
  constexpr bool known = requires { typename fold<Op, C>::state; };
  static_assert(known, "cameo: no fold of functions/folds.hpp computes this operator for an element type of its row");
  if constexpr (known) return reduce_units<fold<Op, C>, C>;
  else return nullptr;
}

}  // namespace CAMEO_NAMESPACE::eps
