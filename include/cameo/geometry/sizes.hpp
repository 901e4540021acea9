#pragma once
#include <cameo/geometry/shape.hpp>

namespace CAMEO_NAMESPACE::geometry {

/// A list of at most max_rank sizes, outermost first: a shape that a contract computes. It owns its sizes and has no
/// heap.
template <size_kind D>
class sizes {
 public:
  // Sizes that are not there have no value in a program that runs: clearing each list costs more than most contracts.
  constexpr sizes() {
    if (std::is_constant_evaluated())
      for (D& size : all_) size = D{};
  }
  constexpr sizes(std::initializer_list<D> all) : sizes{} {
    for (const D& size : all) push_back(size);
  }
  /// The sizes of a shape, or of a list that a span can refer to. Takes at most max_rank sizes and drops further ones,
  /// so check the rank of data from a file first, with check_rank().
  template <std::convertible_to<shape_view<D>> L>
  constexpr explicit(!std::same_as<L, extents>) sizes(const L& shape) : sizes{} {
    append(shape_view<D>(shape).sizes);
  }
  /// A list of `rank` equal sizes.
  constexpr sizes(std::size_t rank, D size) : sizes{} { resize(rank, size); }
  constexpr operator extents() const
    requires std::same_as<D, std::int64_t>
  {
    return extents{std::span<const std::int64_t>{all_, count_}};
  }

  // The names of a range: a list converts to std::span<const D> and to shape_view<D>, which refer to it.
  constexpr std::size_t size() const { return count_; }
  constexpr const D* data() const { return all_; }
  constexpr D* data() { return all_; }
  constexpr const D* begin() const { return all_; }
  constexpr const D* end() const { return all_ + count_; }
  constexpr D* begin() { return all_; }
  constexpr D* end() { return all_ + count_; }
  constexpr bool empty() const { return count_ == 0; }

  constexpr std::size_t rank() const { return count_; }
  constexpr const D& operator[](std::size_t axis) const { return all_[axis]; }
  constexpr D& operator[](std::size_t axis) { return all_[axis]; }
  constexpr const D& back() const { return all_[count_ - 1]; }
  constexpr D& back() { return all_[count_ - 1]; }

  /// Adds an innermost axis; has no effect at max_rank.
  constexpr void push_back(D size) {
    if (count_ < max_rank) all_[count_++] = size;
  }
  /// Adds the axes of a shape, innermost.
  constexpr void append(std::span<const D> more) {
    for (const D& size : more) push_back(size);
  }
  /// Inserts an axis before `axis`; has no effect at max_rank.
  constexpr void insert(std::size_t axis, D size) {
    if (count_ == max_rank) return;
    for (std::size_t i = count_++; i > axis; --i) all_[i] = all_[i - 1];
    all_[axis] = size;
  }
  /// Removes an axis; `axis` is below rank().
  constexpr void erase(std::size_t axis) {
    for (std::size_t i = axis + 1; i < count_; ++i) all_[i - 1] = all_[i];
    --count_;
  }
  /// Removes inner axes, or adds inner axes of this size, up to max_rank.
  constexpr void resize(std::size_t rank, D size = fixed<D>(1)) {
    while (count_ < rank && count_ < max_rank) all_[count_++] = size;
    if (rank < count_) count_ = std::uint8_t(rank);
  }

  constexpr bool operator==(const sizes& other) const {
    if (count_ != other.count_) return false;
    for (std::size_t i = 0; i < count_; ++i)
      if (!(all_[i] == other.all_[i])) return false;
    return true;
  }

 private:
  std::uint8_t count_ = 0;
  D all_[max_rank];
};

/// Returns whether two sizes are certainly the same.
constexpr bool are_same(dim a, dim b) { return a.same(b); }
constexpr bool are_same(std::int64_t a, std::int64_t b) { return a == b; }
/// Returns whether two sizes are known and differ.
template <size_kind D>
constexpr bool differ(D a, D b) {
  return is_known(a) && is_known(b) && number_of(a) != number_of(b);
}
/// Returns whether a size is known to be this number.
template <size_kind D>
constexpr bool equals(D size, std::int64_t number) {
  return is_known(size) && number_of(size) == number;
}
/// The size that two axes have that must be equal, the better known of both: a number, else a symbol.
constexpr dim unified(dim a, dim b) { return a.known() || (a.symbol && !b.known()) ? a : b; }
constexpr std::int64_t unified(std::int64_t a, std::int64_t) { return a; }

/// The product of sizes in `product`: 0 if one is 0; a size that is unknown if the others are 1; unknown if several
/// are. Returns false when it overflows.
template <size_kind D>
[[nodiscard]] constexpr bool checked_product(std::span<const D> all, D& product) {
  std::int64_t known = 1;
  std::size_t unknowns = 0;
  D unknown{};
  bool fits = true;
  for (const D& size : all) {
    if (!is_known(size)) unknown = size, ++unknowns;
    else if (number_of(size) == 0) return product = fixed<D>(0), true;
    else fits = fits && checked_multiply(known, number_of(size), known);
  }
  if (unknowns == 0) product = fixed<D>(known);
  else product = unknowns == 1 && known == 1 ? unknown : D{};
  return fits;
}
/// The sum of two sizes in `sum`, unknown unless both are known or one is 0. Returns false when it overflows.
template <size_kind D>
[[nodiscard]] constexpr bool checked_sum(D a, D b, D& sum) {
  if (equals(a, 0)) return sum = b, true;
  if (equals(b, 0)) return sum = a, true;
  if (!is_known(a) || !is_known(b)) return sum = D{}, true;
  std::int64_t number = 0;
  if (!checked_add(number_of(a), number_of(b), number)) return false;
  return sum = fixed<D>(number), true;
}
/// One of `parts` equal shares of a size, which is a multiple of `parts`; unknown if the size is.
template <size_kind D>
constexpr D share_of(D size, std::int64_t parts) {
  if (parts == 1) return size;
  return is_known(size) ? fixed<D>(number_of(size) / parts) : D{};
}

/// The error of a rank that no tensor has. Where a model is loaded it is NOT_IMPLEMENTED, since ONNX has no largest
/// rank: the shape is left unknown, and only a run of the node is refused.
template <size_kind D, class... Parts>
constexpr status wrong_rank(const Parts&... parts) {
  return cameo::detail::refuse(std::same_as<D, dim> ? status_code::not_implemented : status_code::invalid_argument,
                               parts...);
}
/// Checks that a rank that is computed from others is not larger than that of any tensor. The error is one of
/// wrong_rank().
template <size_kind D>
constexpr status check_rank(std::size_t rank, std::string_view what = "the output") {
  if (rank <= max_rank) return {};
  return wrong_rank<D>(what, " has rank ", rank, ", must have rank ", max_rank, " or less");
}

}  // namespace CAMEO_NAMESPACE::geometry
