#pragma once
#include "operand_values.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {

/// Checks that all indices are in [-size, size), else INVALID_ARGUMENT. Afterwards place() needs no check.
inline status check_indices(const value& indices, std::int64_t size) {
  const integers all{indices};
  for (std::int64_t i = 0; i < all.count(); ++i)
    if (all[i] < -size || all[i] >= size) return check_element("indices", all[i], -size, size - 1);
  return {};
}
/// Converts an index, which may be negative to count from the end, to a position in [0, size).
inline std::int64_t place(std::int64_t index, std::int64_t size) { return index < 0 ? index + size : index; }

/// The elements of data that GatherElements and ScatterElements access, row by row of `indices`.
class index_rows {
 public:
  /// Checks the shapes and the indices. INVALID_ARGUMENT if the shapes don't fit each other, or an index is out of
  /// range.
  static result<index_rows> make(const value& data, const value& indices, std::int64_t axis) {
    const std::size_t rank = data.shape.rank();
    std::size_t at = 0;
    if (status found = find_axis(axis, rank, at); !found) return found;
    bool fits = indices.shape.rank() == rank;
    for (std::size_t i = 0; fits && i < rank; ++i) fits = i == at || indices.shape[i] <= data.shape[i];
    if (!fits)
      return bad_input("indices ", indices.shape, " don't fit data ", data.shape, ": only axis ", at, " may be larger");
    if (status inside = check_indices(indices, data.shape[at]); !inside) return inside;
    return index_rows{data.shape, indices, at};
  }
  std::int64_t rows() const { return indices_.count() == 0 ? 0 : indices_.count() / shape_.back(); }
  std::int64_t length() const { return shape_.back(); }

  /// Calls f(position in indices, position in data) for each element of a row.
  template <class F>
  void each(std::int64_t row, F&& f) const {
    const std::size_t last = shape_.rank() - 1;
    std::int64_t base = 0, rest = row;
    for (std::size_t i = last; i-- > 0; rest /= shape_[i])
      if (i != axis_) base += rest % shape_[i] * strides_[i];
    const std::int64_t step = axis_ == last ? 0 : 1, along = strides_[axis_], first = row * shape_[last];
    for (std::int64_t j = 0; j < shape_[last]; ++j)
      f(first + j, base + j * step + place(indices_[first + j], size_) * along);
  }

 private:
  index_rows(const extents& data, const value& indices, std::size_t axis)
      : shape_{indices.shape}, strides_{row_major_strides(data)}, indices_{indices}, axis_{axis}, size_{data[axis]} {}
  extents shape_, strides_;
  integers indices_;
  std::size_t axis_;
  std::int64_t size_;
};

/// The blocks of data that GatherND and ScatterND access: each tuple along the last axis of `indices` is the position
/// of a block.
class index_tuples {
 public:
  /// Checks the shapes and the indices. INVALID_ARGUMENT if the shapes don't fit each other, or an index is out of
  /// range.
  static result<index_tuples> make(const value& data, const value& indices, std::int64_t batch_dims) {
    const extents &d = data.shape, &i = indices.shape;
    const std::int64_t length = i.back(), limit = std::int64_t(std::min(d.rank(), i.rank()));
    if (status s = check_number("batch_dims", batch_dims, 0, limit - 1); !s) return s;
    const std::int64_t most = std::int64_t(d.rank()) - batch_dims;
    if (status s = check_number("the number of axes that indices name", length, 0, most); !s) return s;
    index_tuples made;
    const auto batch = std::size_t(batch_dims);
    for (std::size_t k = 0; k < batch; ++k)
      if (status s = check_count("a batch axis of indices", i[k], d[k]); !s) return s;
    made.first_ = batch, made.past_ = batch + std::size_t(length);
    made.data_ = d, made.strides_ = row_major_strides(d);
    made.numbers_ = integers{indices};
    const extents outer{i.dims().first(i.rank() - 1)};
    const bool few = outer.checked_count(made.count_) && product(i, batch, i.rank() - 1, made.per_batch_);
    if (status s = check_fits("indices", few); !s) return s;
    if (status s = check_fits("data", product(d, made.past_, d.rank(), made.block_)); !s) return s;
    if (status inside = made.check(); !inside) return inside;
    return made;
  }
  std::int64_t count() const { return count_; }      // the number of tuples
  std::int64_t block() const { return block_; }      // the elements of a block
  std::size_t first_inner() const { return past_; }  // the first axis of a block
  /// The offset in elements of block i in data.
  std::int64_t operator[](std::int64_t i) const {
    const std::int64_t tuple = i * std::int64_t(past_ - first_);
    std::int64_t offset = first_ ? i / per_batch_ * strides_[first_ - 1] : 0;
    for (std::size_t k = first_; k < past_; ++k)
      offset += place(numbers_[tuple + std::int64_t(k - first_)], data_[k]) * strides_[k];
    return offset;
  }

 private:
  status check() const {
    const std::size_t length = past_ - first_;
    if (length == 0) return {};
    for (std::int64_t i = 0; i < count_; ++i)
      for (std::size_t k = 0; k < length; ++k) {
        const std::int64_t size = data_[first_ + k], index = numbers_[i * std::int64_t(length) + std::int64_t(k)];
        if (index < -size || index >= size) return check_element("indices", index, -size, size - 1);
      }
    return {};
  }
  extents data_, strides_;
  integers numbers_{value{}};
  std::size_t first_ = 0, past_ = 0;
  std::int64_t count_ = 0, block_ = 0, per_batch_ = 0;
};

}  // namespace CAMEO_NAMESPACE::eps
