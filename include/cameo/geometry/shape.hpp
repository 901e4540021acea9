#pragma once
#include <cameo/core/refuse.hpp>
#include <cameo/core/value.hpp>

/// The requirements of operators on shapes, and output shapes. Each contract is a function template over the kind of
/// size D: `dim` where a model is loaded and sizes may be unknown, `std::int64_t` where all are known: while a kernel
/// runs, and while a program is compiled.
namespace CAMEO_NAMESPACE::geometry {

/// The kinds of size: a size that may be unknown, and a number.
template <class D>
concept size_kind = std::same_as<D, dim> || std::same_as<D, std::int64_t>;

/// Returns whether a size is a number.
constexpr bool is_known(dim size) { return size.known(); }
/// Returns true: a number is known.
constexpr bool is_known(std::int64_t) { return true; }
/// Returns the number of a size that is known.
constexpr std::int64_t number_of(dim size) { return size.size; }
/// Returns the number itself.
constexpr std::int64_t number_of(std::int64_t size) { return size; }
/// A size that is known.
template <size_kind D>
constexpr D fixed(std::int64_t size) {
  if constexpr (std::same_as<D, dim>) return dim::fixed(size);
  else return size;
}

/// The shape of a tensor, which the caller owns; of a tensor whose rank is unknown, nothing.
template <size_kind D>
struct shape_view {
  std::span<const D> sizes;
  bool is_known = false;

  constexpr shape_view() = default;
  template <std::convertible_to<std::span<const D>> L>
  constexpr shape_view(const L& all) : sizes{all}, is_known{true} {}
  constexpr shape_view(const extents& shape)
    requires std::same_as<D, std::int64_t>
      : shape_view{shape.dims()} {}
  constexpr explicit operator bool() const { return is_known; }
  constexpr std::size_t rank() const { return sizes.size(); }
  constexpr D operator[](std::size_t axis) const { return sizes[axis]; }
};

/// The shape of a value of a run; of an absent one, nothing.
inline shape_view<std::int64_t> shape_of(const value& v) {
  return v ? shape_view<std::int64_t>{v.shape} : shape_view<std::int64_t>{};
}

/// Errors of a contract: INVALID_GRAPH where a model is loaded, INVALID_ARGUMENT for the shapes of a run.
template <size_kind D, class... Parts>
constexpr status wrong(const Parts&... parts) {
  return detail::refuse(std::same_as<D, dim> ? status_code::invalid_graph : status_code::invalid_argument, parts...);
}
/// The error of an attribute, whenever it is found.
template <class... Parts>
constexpr status wrong_attribute(const Parts&... parts) {
  return detail::refuse(status_code::invalid_graph, parts...);
}

}  // namespace CAMEO_NAMESPACE::geometry
