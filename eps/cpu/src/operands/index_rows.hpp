#pragma once
#include <cameo/geometry/gather.hpp>

#include "operand_values.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Checks the indices of an axis. Afterwards place() needs no check.
inline status check_indices(const value& indices, std::int64_t size, std::size_t axis) {
  const integers all{indices};
  for (std::int64_t i = 0; i < all.count(); ++i)
    if (!geometry::is_index(all[i], size)) return geometry::wrong_index<std::int64_t>(all[i], size, axis);
  return {};
}
/// Converts an index, which may be negative to count from the end, to a position in [0, size).
inline std::int64_t place(std::int64_t index, std::int64_t size) { return index < 0 ? index + size : index; }

/// The elements of data that GatherElements and ScatterElements access, row by row of `indices`.
class index_rows {
 public:
  /// Checks the shapes and the indices.
  static result<index_rows> make(const value& data, const value& indices, std::int64_t axis,
                                 geometry::shape_view<std::int64_t> updates = {}) {
    const auto places = geometry::element_places_of<std::int64_t>(data.shape, indices.shape, axis, updates);
    if (!places) return places.error();
    if (status inside = check_indices(indices, places->size, places->axis); !inside) return inside;
    return index_rows{data.shape, indices, *places};
  }
  std::int64_t rows() const { return indices_.count() == 0 ? 0 : indices_.count() / shape_.back(); }
  std::int64_t length() const { return shape_.back(); }

  /// Calls f(position in indices, position in data) for each element of a row.
  template <class F>
  void each(std::int64_t row, F&& f) const {
    const std::size_t last = shape_.rank() - 1;
    std::int64_t base = 0, rest = row;
    for (std::size_t i = last; i-- > 0; rest /= shape_[i])
      if (i != along_.axis) base += rest % shape_[i] * strides_[i];
    const std::int64_t step = along_.axis == last ? 0 : 1, along = strides_[along_.axis], first = row * shape_[last];
    for (std::int64_t j = 0; j < shape_[last]; ++j)
      f(first + j, base + j * step + place(indices_[first + j], along_.size) * along);
  }

 private:
  index_rows(const extents& data, const value& indices, const geometry::element_places& along)
      : shape_{indices.shape}, strides_{row_major_strides(data)}, indices_{indices}, along_{along} {}
  extents shape_, strides_;
  integers indices_;
  geometry::element_places along_;
};

/// The blocks of data that GatherND and ScatterND access.
class index_tuples : public geometry::blocks {
 public:
  /// Checks the shapes and the indices.
  static result<index_tuples> make(const value& data, const value& indices, std::int64_t batch_dims,
                                   geometry::shape_view<std::int64_t> updates = {}) {
    const auto shapes = geometry::blocks_of<std::int64_t>(data.shape, indices.shape, batch_dims, updates);
    if (!shapes) return shapes.error();
    const index_tuples made{*shapes, data.shape, indices};
    if (status inside = made.check(); !inside) return inside;
    return made;
  }
  /// The offset in elements of block i in data.
  std::int64_t operator[](std::int64_t i) const {
    const std::int64_t tuple = i * std::int64_t(past - first);
    std::int64_t offset = first ? i / per_batch * strides_[first - 1] : 0;
    for (std::size_t k = first; k < past; ++k)
      offset += place(numbers_[tuple + std::int64_t(k - first)], data_[k]) * strides_[k];
    return offset;
  }

 private:
  index_tuples(const geometry::blocks& shapes, const extents& data, const value& indices)
      : geometry::blocks{shapes}, data_{data}, strides_{row_major_strides(data)}, numbers_{indices} {}
  status check() const {
    for (std::int64_t i = 0; i < numbers_.count();)
      for (std::size_t k = first; k < past; ++k, ++i)
        if (!geometry::is_index(numbers_[i], data_[k]))
          return geometry::wrong_index<std::int64_t>(numbers_[i], data_[k], k);
    return {};
  }
  extents data_, strides_;
  integers numbers_;
};

}  // namespace CAMEO_NAMESPACE::eps
