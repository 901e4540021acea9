#include <cameo/core/elements.hpp>
#include <cameo/eps/cpu/detail/narrow_rows.hpp>

#include "machine/simd.hpp"

#include <type_traits>

#include "cast_rows.hpp"

// Casts that C++ converts as ONNX defines it: between integers, and from integers and floats to floats. There is a loop
// for each pair of types, which compilers vectorize; through the wide types of cast_rows.hpp they would take several
// times as long. Casts of bytes to floats write four times what they read and use the conversion of the instruction
// set.
namespace CAMEO_NAMESPACE::eps {
namespace {

template <class From, class To>
void direct_row(const void* from, void* to, std::int64_t n) {
  const From* const x = static_cast<const From*>(from);
  To* const y = static_cast<To*>(to);
  if constexpr (requires { widen_row(x, y, n); }) {
    widen_row(x, y, n);
  } else {
    CAMEO_SIMD_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<To, bool>) y[i] = x[i] != From(0);
      else y[i] = To(x[i]);
    }
  }
}

/// The low bits that a conversion of integers keeps do not depend on whether a type is signed, so signed and unsigned
/// types share a loop.
template <class T>
using bits_of_integer = std::make_unsigned_t<T>;

template <class From, class To>
constexpr direct_cast cast_between() {
  if constexpr (std::is_same_v<To, bool> || !std::is_integral_v<To>) return direct_row<From, To>;
  else if constexpr (sizeof(To) <= sizeof(From)) return direct_row<bits_of_integer<From>, bits_of_integer<To>>;
  else return direct_row<From, bits_of_integer<To>>;
}

using plain_floats = detail::element_set<float, double>;
using any_result = detail::element_set<bool, float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                       std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
using float_result = detail::element_set<bool, float, double>;  // casts of floats to integers have separate rules

}  // namespace

direct_cast direct_cast_of(dtype from, dtype to) {
  const auto results = [&]<class From, class Set>(std::type_identity<From>, Set) {
    return Set::visit(to, direct_cast{}, []<class To>(std::type_identity<To>) { return cast_between<From, To>(); });
  };
  const direct_cast found = detail::integer_elements::visit(
      from, direct_cast{}, [&]<class From>(std::type_identity<From> type) { return results(type, any_result{}); });
  return plain_floats::visit(from, found,
                             [&]<class From>(std::type_identity<From> type) { return results(type, float_result{}); });
}

}  // namespace CAMEO_NAMESPACE::eps
