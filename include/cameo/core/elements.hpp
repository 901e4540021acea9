#pragma once
#include <cameo/core/value.hpp>

#include <cstring>
#include <vector>

namespace CAMEO_NAMESPACE::detail {

/// A set of element types. visit() and call() call generic code with the C++ type of a dtype, so that no list of cases
/// can miss one.
///
///   const bool zero = integer_elements::visit(v.type, false, [&]<class T>(std::type_identity<T>) {
///     return element_at<T>(v, 0) == 0;
///   });
template <element_type... Ts>
struct element_set {
  static constexpr type_mask mask = mask_of<Ts...>;

  /// Returns f(std::type_identity<T>{}) for the C++ type T of `type`; returns `otherwise` if the type is not in the
  /// set.
  template <class R, class F>
  static constexpr R visit(dtype type, R otherwise, F&& f) {
    static_cast<void>(((type == dtype_of<Ts> && (otherwise = f(std::type_identity<Ts>{}), true)) || ...));
    return otherwise;
  }
  /// Calls f(std::type_identity<T>{}) with the C++ type T of `type`. Returns false, without a call, if the type is not
  /// in the set.
  template <class F>
  static constexpr bool call(dtype type, F&& f) {
    return ((type == dtype_of<Ts> && (static_cast<void>(f(std::type_identity<Ts>{})), true)) || ...);
  }
};

template <class Table>
struct set_of_table;
template <dtype... Ids, class... Ts, fixed_string... Names, std::size_t... Bits>
struct set_of_table<element_table<element<Ids, Ts, Names, Bits>...>> {
  using type = element_set<Ts...>;
};
/// Every element type of ONNX.
using all_elements = set_of_table<elements>::type;
/// Integers whose elements are whole bytes.
using integer_elements = element_set<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                                     std::uint32_t, std::uint64_t>;
/// The numbers that models compute with: integers of whole bytes, and floats of 16 bits and more.
using number_elements = element_set<float, double, float16, bfloat16, std::int8_t, std::int16_t, std::int32_t,
                                    std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;

/// Element `i` of a host tensor of T. The data may be unaligned, as in a mapped file.
template <class T>
T element_at(const value& v, std::size_t i) {
  T element;
  std::memcpy(&element, static_cast<const std::byte*>(v.data) + i * sizeof(T), sizeof(T));
  return element;
}
/// Element `i` as a number to compute with: narrow floats as float, all others unchanged.
template <class T>
auto number_at(const value& v, std::size_t i) {
  if constexpr (std::is_arithmetic_v<T>) return element_at<T>(v, i);
  else return float(element_at<T>(v, i));
}
/// All elements of a host tensor of integers T.
template <class T>
std::vector<std::int64_t> all_at(const value& v) {
  std::vector<std::int64_t> all(std::size_t(v.shape.count()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::int64_t(element_at<T>(v, i));
  return all;
}

}  // namespace CAMEO_NAMESPACE::detail
