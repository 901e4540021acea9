#pragma once
#include "float_values.hpp"
#include "machine/lane_scratch.hpp"
#include "machine/parallel_rows.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Rows of n elements, `step` apart.
template <class C>
struct row_block {
  C* data = nullptr;
  std::int64_t step = 0;
};

/// Gives kernels access to a tensor of a floating-point type as elements of C, block by block (a block is some rows):
/// in place if C is the tensor's type, else in a buffer of each worker (a "room"). So the tensor is read and written
/// once, and never converted as a whole. The blocks of different calls must not overlap. An output may have the memory
/// of an input, since a block is read before it is stored. From is C if the tensor can have no other type, so that no
/// conversion is linked.
template <class C, class From = any_float>
class row_rooms {
 public:
  static constexpr bool converts = !std::is_same_v<From, C>;

  /// Prepares for blocks of at most `rows` rows of at most `width` elements, which is what the tensor has at least.
  static result<row_rooms> make(run_context& c, const value& tensor, std::int64_t rows, std::int64_t width) {
    row_rooms made;
    made.type_ = tensor.type, made.data_ = static_cast<std::byte*>(tensor.data);
    made.width_ = width, made.longest_ = rows * width;
    if constexpr (converts) {
      if (tensor.type == dtype_of<C>) return made;
      const auto rooms = lane_scratch<C>::make(c, std::size_t(made.longest_));
      if (!rooms) return rooms.error();
      made.rooms_ = rooms->at(0);
    }
    return made;
  }

  /// The memory in which worker `lane` computes a block: rows that begin at element `first` of the tensor and are
  /// `step` apart. In a buffer, rows are always `width` apart, so that a kernel that chooses its loops by the step
  /// chooses the same for all blocks.
  row_block<C> room(std::size_t lane, std::int64_t first, std::int64_t step) const {
    if (!converts || !rooms_) return {reinterpret_cast<C*>(data_) + first, step};
    return {rooms_ + std::int64_t(lane) * longest_, width_};
  }
  /// Reads a block whose rows have n elements.
  row_block<const C> read(std::size_t lane, std::int64_t first, std::int64_t step, std::int64_t rows,
                          std::int64_t n) const {
    const row_block<C> block = room(lane, first, step);
    if constexpr (converts)
      if (rooms_)
        each_row(first, step, rows, n, [&](const std::byte* from, std::int64_t done, std::int64_t count) {
          convert_floats(type_, from, block.data + done, count);
        });
    return {block.data, block.step};
  }
  /// Stores a block that was computed in the memory that `room()` returns, rounded to the tensor's type.
  void store(std::size_t lane, std::int64_t first, std::int64_t step, std::int64_t rows, std::int64_t n) const {
    if constexpr (converts)
      if (rooms_)
        each_row(first, step, rows, n, [&](std::byte* to, std::int64_t done, std::int64_t count) {
          store_floats(room(lane, first, step).data + done, type_, to, count);
        });
  }

  // Blocks of one row, of n elements.
  C* room(std::size_t lane, std::int64_t first) const { return room(lane, first, width_).data; }
  const C* read(std::size_t lane, std::int64_t first, std::int64_t n) const { return read(lane, first, n, 1, n).data; }
  void store(std::size_t lane, std::int64_t first, std::int64_t n) const { store(lane, first, n, 1, n); }

 private:
  /// Calls f(row in the tensor, offset in the buffer, number of elements) for each row, or once if all are contiguous.
  template <class F>
  void each_row(std::int64_t first, std::int64_t step, std::int64_t rows, std::int64_t n, F&& f) const {
    const std::int64_t bytes = bits_of(type_) / 8;
    if (step == n && n == width_) return f(data_ + first * bytes, 0, rows * n);
    for (std::int64_t r = 0; r < rows; ++r) f(data_ + (first + r * step) * bytes, r * width_, n);
  }

  dtype type_{};
  std::byte* data_ = nullptr;
  C* rooms_ = nullptr;                    // a buffer for each worker; null if the tensor has type C
  std::int64_t width_ = 0, longest_ = 0;  // of a buffer: elements from row to row, and in total
};

/// The elements of a tensor as C, for use by all rows: in place, or converted in scratch memory. Null for an absent
/// input.
template <class C>
result<const C*> wide_vector(run_context& c, const value& v) {
  if (!v || v.type == dtype_of<C>) return static_cast<const C*>(v.data);
  const result<std::span<C>> wide = c.scratch<C>(std::size_t(v.shape.count()));
  if (!wide) return wide.error();
  load_floats(v, 0, wide->data(), v.shape.count());
  return static_cast<const C*>(wide->data());
}

/// Computes y from x, row by row of n elements, on several workers: calls f(row of x, memory for the row of y, row
/// index).
template <class C, class F>
status map_rows(run_context& c, const value& x, const value& y, std::int64_t n, std::int64_t grain, F&& f) {
  const auto from = row_rooms<C>::make(c, x, 1, n), to = row_rooms<C>::make(c, y, 1, n);
  if (!from || !to) return status_code::out_of_memory;
  parallel_each_row(c, x.shape.count() / n, grain, [&](std::int64_t row, std::size_t lane) {
    f(from->read(lane, row * n, n), to->room(lane, row * n), row);
    to->store(lane, row * n, n);
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
