#pragma once
#include <cameo/core/checked.hpp>
#include <cameo/core/status.hpp>

#include <initializer_list>
#include <span>

namespace CAMEO_NAMESPACE {

/// The largest rank of a tensor. (No exporter is known to exceed 8.)
inline constexpr std::size_t max_rank = 12;

namespace detail {
/// A list that owns dims: std::vector<std::int64_t>, std::array<std::int64_t, N>.
template <class L>
concept dim_list = requires(const L& list) {
  typename L::value_type;
  { list.data() } -> std::same_as<const std::int64_t*>;
  { list.size() } -> std::convertible_to<std::size_t>;
} && !requires { L::extent; };  // only a std::span has it, and it owns nothing
}  // namespace detail

/// The size of a tensor along each axis, outermost first; rank 0 is a scalar. All sizes are known and never negative.
class extents {
 public:
  constexpr extents() = default;
  constexpr extents(std::initializer_list<std::int64_t> dims)
      : extents{std::span<const std::int64_t>{dims.begin(), dims.size()}} {}
  /// Takes at most max_rank dims and drops further ones, so check the rank of data from a file first.
  constexpr explicit extents(std::span<const std::int64_t> dims) {
    for (std::int64_t d : dims) push_back(d);
  }

  /// The dims of a list. Of extents with more than max_rank dims, checked_count() returns false.
  template <detail::dim_list L>
  constexpr extents(const L& list) : extents{std::span<const std::int64_t>{list.data(), list.size()}} {
    if (list.size() > max_rank) dims_[0] = -1;
  }

  constexpr std::size_t rank() const { return rank_; }
  constexpr std::int64_t operator[](std::size_t axis) const { return dims_[axis]; }
  constexpr std::int64_t& operator[](std::size_t axis) { return dims_[axis]; }
  constexpr const std::int64_t* begin() const { return dims_; }
  constexpr const std::int64_t* end() const { return dims_ + rank_; }
  constexpr std::int64_t* begin() { return dims_; }
  constexpr std::int64_t* end() { return dims_ + rank_; }
  constexpr std::span<const std::int64_t> dims() const { return {dims_, rank_}; }
  constexpr std::int64_t back() const { return dims_[rank_ - 1]; }

  /// Adds an innermost axis; has no effect at max_rank.
  constexpr void push_back(std::int64_t dim) {
    if (rank_ < max_rank) dims_[rank_++] = dim;
  }
  /// Inserts an axis before `axis`; has no effect at max_rank.
  constexpr void insert(std::size_t axis, std::int64_t dim) {
    if (rank_ == max_rank) return;
    for (std::size_t i = rank_++; i > axis; --i) dims_[i] = dims_[i - 1];
    dims_[axis] = dim;
  }
  /// Removes an axis; `axis` is below rank().
  constexpr void erase(std::size_t axis) {
    for (std::size_t i = axis + 1; i < rank_; ++i) dims_[i - 1] = dims_[i];
    --rank_;
  }
  /// Removes inner axes, or adds inner axes of size `dim`, up to max_rank.
  constexpr void resize(std::size_t rank, std::int64_t dim = 1) {
    while (rank_ < rank && rank_ < max_rank) dims_[rank_++] = dim;
    if (rank < rank_) rank_ = std::uint8_t(rank);
  }

  /// The number of elements. Only for extents whose count is known not to overflow; checked_count() checks it.
  constexpr std::int64_t count() const { return count(0, rank_); }
  /// The product of the axes [first, last).
  constexpr std::int64_t count(std::size_t first, std::size_t last) const {
    std::int64_t product = 1;  // large sizes before a 0 may overflow on the way; the result is still 0
    for (std::size_t i = first; i < last; ++i) static_cast<void>(checked_multiply(product, dims_[i], product));
    return product;
  }
  /// Computes the number of elements. Returns false when a dim is negative or the product overflows.
  [[nodiscard]] constexpr bool checked_count(std::int64_t& count) const {
    std::uint64_t product = 1;  // unsigned overflow is cheaper to check where 64 bits take two registers
    bool zero = false;
    for (std::int64_t d : dims()) {
      if (d < 0) return false;
      if (d == 0) zero = true;
      else if (!checked_multiply(product, std::uint64_t(d), product) || product > std::uint64_t(INT64_MAX))
        return false;
    }
    count = zero ? 0 : std::int64_t(product);
    return true;
  }

  constexpr bool operator==(const extents& other) const {
    if (rank_ != other.rank_) return false;
    for (std::size_t i = 0; i < rank_; ++i)
      if (dims_[i] != other.dims_[i]) return false;
    return true;
  }

 private:
  std::uint8_t rank_ = 0;
  std::int64_t dims_[max_rank]{};
};

/// The distance in elements between neighbors along each axis of a dense, row-major tensor.
constexpr extents row_major_strides(const extents& shape) {
  extents strides = shape;
  std::int64_t step = 1;
  for (std::size_t i = shape.rank(); i-- > 0; static_cast<void>(checked_multiply(step, shape[i], step)))
    strides[i] = step;
  return strides;
}

/// Converts an axis as ONNX counts it (negative: from the end) to an index. Returns false if there is no such axis.
[[nodiscard]] constexpr bool normalize_axis(std::int64_t& axis, std::size_t rank) {
  const auto r = std::int64_t(rank);
  if (axis < -r || axis >= r) return false;
  if (axis < 0) axis += r;
  return true;
}

}  // namespace CAMEO_NAMESPACE
