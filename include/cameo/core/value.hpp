#pragma once
#include <cameo/core/dtype.hpp>
#include <cameo/core/extents.hpp>
#include <cameo/core/member_span.hpp>

#include <concepts>
#include <cstddef>

namespace CAMEO_NAMESPACE {

namespace detail {
template <class T>
struct view_of_temporary_shape {
  static_assert(sizeof(T) == 0,
                "cameo: a tensor_view refers to its extents, but these are temporary; give them a name that lives "
                "as long as the view: `const cameo::extents shape{2, 3}; cameo::tensor_view view{data, shape};`");
};
}  // namespace detail

/// Elements and their extents, dense and row-major; borrows both. The elements of strings are std::string_view.
template <class T>
class tensor_view {
 public:
  using element = T;
  constexpr tensor_view(T* data, const extents& shape) : data_{data}, shape_{&shape}, count_{shape.count()} {}
  constexpr tensor_view(T*, extents&&) { static_cast<void>(sizeof(detail::view_of_temporary_shape<T>)); }
  template <class U>
    requires std::is_same_v<const U, T>
  constexpr tensor_view(const tensor_view<U>& from) : tensor_view{from.data(), from.shape()} {}

  constexpr T* data() const { return data_; }
  constexpr const extents& shape() const { return *shape_; }
  constexpr std::size_t rank() const { return shape_->rank(); }
  constexpr std::int64_t dim(std::size_t axis) const { return (*shape_)[axis]; }
  constexpr std::int64_t count() const { return count_; }
  constexpr std::size_t size() const { return std::size_t(count_); }
  constexpr bool empty() const { return count_ == 0; }
  /// Element i in row-major order. Not checked.
  template <std::integral I>
  constexpr T& operator[](I i) const {
    return data_[i];
  }
  /// The element at these indices, one for each axis: view(row, column). Not checked.
  template <std::convertible_to<std::int64_t>... Is>
  constexpr T& operator()(Is... indices) const {
    std::int64_t at = 0;
    std::size_t axis = 0;
    static_cast<void>(((at = at * (*shape_)[axis++] + std::int64_t(indices)), ...));
    return data_[at];
  }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + count_; }
  constexpr std::span<T> span() const { return {data_, size()}; }
  /// The elements with index i along the outermost axis; for a tensor [batch, classes], the classes of batch item i.
  /// The tensor must not be a scalar. Neither the rank nor i is checked.
  template <std::integral I>
  constexpr std::span<T> row(I i) const {
    const auto length = std::size_t(shape_->count(1, shape_->rank()));
    return {data_ + std::size_t(i) * length, length};
  }

 private:
  T* data_;
  const extents* shape_;
  std::int64_t count_;
};

/// The declared kind of a type, as in ONNX's TypeProto.
enum class type_kind : std::uint8_t { unknown, tensor, sparse_tensor, sequence, map, optional, opaque };

/// The kind of a value in a run. An optional has the kind of the value that it holds; an empty one is `none`.
enum class value_kind : std::uint8_t { none, tensor, sequence, map, sparse_tensor };

namespace detail {
struct storage_block;  // a block of memory of a run (run/run_memory.hpp)
}  // namespace detail

/// A reference to a value: trivially copyable, owns nothing. The function that makes it documents how long it lives.
///   tensor         `data`: shape.count() elements, packed as in core/dtype.hpp; aligned to 64 bytes in a run, except
///                  for a caller's data and constants. A constant of a model that is not loaded may be unaligned
///                  (is_aligned)
///   sequence       `parts`: its elements
///   map            `parts`: two one-dimensional tensors, keys (of `type`) and values, in the order they were given
///   sparse_tensor  `parts`: values [nnz] and indices, int64 [nnz] (flat) or [nnz, rank]; `shape` is the dense shape
struct value {
  value_kind kind = value_kind::none;
  dtype type = dtype::undefined;  // of the elements; for a sequence of tensors, of the tensors' elements
  std::uint8_t memory = 0;        // index of the memory kind; 0 is the host's
  extents shape = {};
  void* data = nullptr;
  detail::member_span<value> parts = {};
  detail::storage_block* owner = nullptr;  // the run's block with the data; null: the data outlives the run

  /// A tensor in the caller's memory.
  template <class T>
  static value tensor(const extents& shape, std::span<const T> elements) {
    static_assert(sizeof(detail::element_check<T>));
    if constexpr (element_type<T>) return tensor(dtype_of<T>, shape, elements.data());
    else return {};
  }
  /// A tensor in the caller's memory, of a type that is known at run time.
  static value tensor(dtype type, const extents& shape, const void* elements) {
    value made{value_kind::tensor, type, 0, shape};
    made.data = const_cast<void*>(elements);
    return made;
  }
  explicit operator bool() const { return kind != value_kind::none; }
  /// The elements of a tensor of T in host memory. Neither the element type nor the memory is checked.
  template <class T>
  tensor_view<const T> as_unchecked() const {
    static_assert(sizeof(detail::element_check<T>));
    return {static_cast<const T*>(data), shape};
  }
  /// The writable elements of a tensor of T in host memory. Neither the element type nor the memory is checked.
  template <class T>
  tensor_view<T> as_mutable_unchecked() const {
    static_assert(sizeof(detail::element_check<T>));
    return {static_cast<T*>(data), shape};
  }
  /// The number of bytes of a tensor's elements. It cannot overflow: code that makes a tensor checks this first.
  std::size_t bytes() const { return (std::size_t(shape.count()) * bits_of(type) + 7) / 8; }
};

namespace detail {
/// False for a tensor whose data is not aligned for its element type, as data in a mapped file may be.
inline bool is_aligned(const value& v) {
  if (v.kind != value_kind::tensor || v.memory != 0) return true;
  const std::size_t bytes = bits_of(v.type) / 8, largest_power = bytes & (~bytes + 1);
  return bytes < 2 || reinterpret_cast<std::uintptr_t>(v.data) %
                              (largest_power < alignof(std::max_align_t) ? largest_power : alignof(std::max_align_t)) ==
                          0;
}
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
