#include "cast_rows.hpp"

#include <cameo/core/elements.hpp>
#include <cameo/eps/cpu/detail/narrow_rows.hpp>

#include "machine/simd.hpp"

#include <cmath>
#include <limits>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The wide type that elements of a type are read as (see cast_rows.hpp); `void` for types that are not numbers.
template <class T>
constexpr auto wide_type() {
  if constexpr (std::is_same_v<T, std::uint64_t> || std::is_same_v<T, double>) return std::type_identity<T>{};
  else if constexpr (std::is_integral_v<T>) return std::type_identity<std::int64_t>{};
  else if constexpr (std::is_same_v<T, uint4> || std::is_same_v<T, int4> || std::is_same_v<T, uint2> ||
                     std::is_same_v<T, int2>)
    return std::type_identity<std::int64_t>{};
  else if constexpr (std::is_same_v<T, std::string_view> || std::is_same_v<T, complex64> ||
                     std::is_same_v<T, complex128>)
    return std::type_identity<void>{};
  else return std::type_identity<float>{};
}
template <class T>
using wide_for = typename decltype(wide_type<T>())::type;

/// The bits of element i of a packed type (a type of fewer than 8 bits).
std::uint32_t packed_bits(const void* from, std::int64_t i, unsigned width) {
  const auto bit = std::uint64_t(i) * width;
  return static_cast<const std::uint8_t*>(from)[bit / 8] >> bit % 8 & ((1u << width) - 1);
}
void put_packed_bits(void* to, std::int64_t i, unsigned width, std::uint32_t bits) {
  const auto bit = std::uint64_t(i) * width;
  std::uint8_t& byte = static_cast<std::uint8_t*>(to)[bit / 8];
  const auto kept = bit % 8 ? byte & ((1u << bit % 8) - 1) : 0u;  // the first element of a byte clears the others
  byte = std::uint8_t(kept | bits << bit % 8);
}

/// The number that the bits of a packed type stand for.
template <dtype Id>
auto number_of(std::uint32_t bits, packed<Id>) {
  if constexpr (Id == dtype::f4e2m1) return detail::widen(std::uint16_t(bits), detail::float4e2m1_format);
  else if constexpr (Id == dtype::f6e2m3) return detail::widen(std::uint16_t(bits & 0x3F), detail::float6e2m3_format);
  else if constexpr (Id == dtype::f6e3m2) return detail::widen(std::uint16_t(bits & 0x3F), detail::float6e3m2_format);
  else if constexpr (Id == dtype::i4) return std::int64_t(bits ^ 8) - 8;
  else if constexpr (Id == dtype::i2) return std::int64_t(bits ^ 2) - 2;
  else return std::int64_t(bits);
}
/// The bits of a number in a packed float format. These formats have no NaN; the bits of -0 stand for it.
std::uint32_t packed_from(float x, detail::float_format format) {
  const int width = 1 + format.exponent_bits + format.mantissa_bits;
  return x == x ? detail::narrow(x, format) : 1u << (width - 1);
}

/// Truncates toward zero and saturates; NaN becomes 0.
std::int64_t truncated(double x) {
  if (!(x < 0x1p63)) return x == x ? std::numeric_limits<std::int64_t>::max() : 0;
  return x <= -0x1p63 ? std::numeric_limits<std::int64_t>::min() : std::int64_t(x);
}

template <class T, class W>
T integer_from(W x) {
  if constexpr (std::is_integral_v<W>) {
    return T(x);
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    if (double(x) >= 0x1p63) return double(x) >= 0x1p64 ? ~std::uint64_t{} : std::uint64_t(x);
    return std::uint64_t(truncated(double(x)));
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    using limits = std::numeric_limits<std::int32_t>;
    const std::int64_t whole = truncated(double(x));
    return whole < limits::min() ? limits::min() : whole > limits::max() ? limits::max() : std::int32_t(whole);
  } else {
    return T(truncated(double(x)));
  }
}

/// Converts n numbers to integers. Nearly always all are within int32; then the low bits of a truncated int32 are the
/// result, in a loop that compilers vectorize.
template <class T, class W>
void write_integers(const W* from, T* to, std::int64_t n) {
  if constexpr (std::is_integral_v<W>) {
    CAMEO_SIMD_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) to[i] = T(from[i]);
  } else {
    std::int64_t outside = 0;
    for (std::int64_t i = 0; i < n; ++i) outside += !(std::abs(from[i]) < W(0x1p31));  // NaN as well
    if (outside == 0) {
      CAMEO_SIMD_INDEPENDENT
      for (std::int64_t i = 0; i < n; ++i) to[i] = T(std::int32_t(from[i]));
    } else {
      for (std::int64_t i = 0; i < n; ++i) to[i] = integer_from<T>(from[i]);
    }
  }
}

/// Converts a double to a float that rounds to every narrower format as the double would: the last bit of an inexact
/// float is set (rounding to odd).
float float_to_narrow(double x) {
  const auto near = float(x);
  const double back = near;
  if (back == x || x != x || std::isinf(near)) return near;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(near);
  if (bits & 1) return near;
  const bool too_far = std::abs(back) > std::abs(x);
  return std::bit_cast<float>(too_far ? bits - 1 : bits | 1);
}
template <class W>
float narrowable(W x) {
  if constexpr (std::is_same_v<W, float>) return x;
  else return float_to_narrow(double(x));
}

std::uint8_t exponent_only(float value, cast_state::rounding round, bool saturate) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t exponent = bits >> 23 & 0xFF, mantissa = bits & 0x7FFFFF;
  constexpr std::uint8_t nan = 0xFF, largest = 0xFE;
  if (exponent == 0xFF) return mantissa || !saturate ? nan : largest;
  if (exponent == 0 && mantissa < 0x400000) return saturate ? 0 : nan;  // less than 2^-127
  // 2^-127 is subnormal in float: from it to 2^-126 there are 2^22 steps of the mantissa, half as many as between
  // larger powers of two.
  const std::uint32_t past = exponent ? mantissa : mantissa - 0x400000, half = exponent ? 0x400000 : 0x200000;
  const bool up =
      round == cast_state::rounding::up ? past != 0 : round == cast_state::rounding::nearest && past >= half;
  const std::uint32_t code = exponent + up;
  return code < 0xFF ? std::uint8_t(code) : saturate ? largest : nan;
}

template <class T, class W>
void write_wide_floats(const W* from, void* to, std::int64_t first, std::int64_t n) {
  T* const elements = static_cast<T*>(to) + first;
  if constexpr (is_narrow_v<T>) {
    float wide[cast_block];
    for (std::int64_t i = 0; i < n; ++i) wide[i] = narrowable(from[i]);
    narrow_row(wide, elements, n);
  } else {
    for (std::int64_t i = 0; i < n; ++i) elements[i] = T(from[i]);
  }
}
template <class T, class W>
void write_float8(const W* from, void* to, std::int64_t first, std::int64_t n, bool saturate) {
  T* const elements = static_cast<T*>(to) + first;
  // With `saturate`, ONNX's table saturates infinities of the source, too, even if the format has an infinity.
  constexpr auto finite = [](float x) {
    constexpr float most = std::numeric_limits<float>::max();
    return x > most ? most : x < -most ? -most : x;
  };
  for (std::int64_t i = 0; i < n; ++i) {
    const float x = narrowable(from[i]);
    elements[i] = T(saturate ? finite(x) : x, saturate);
  }
}
}  // namespace

template <class W>
void read_wide(dtype type, const void* from, std::int64_t first, W* to, std::int64_t n) {
  detail::all_elements::call(type, [&]<class T>(std::type_identity<T>) {
    const T* const elements = static_cast<const T*>(from) + (std::is_empty_v<T> ? 0 : first);
    if constexpr (!std::is_same_v<W, wide_for<T>>) {
      std::fill_n(to, n, W{});  // never called for these types; fills the output rather than leave it uninitialized
    } else if constexpr (std::is_empty_v<T>) {
      for (std::int64_t i = 0; i < n; ++i) to[i] = number_of(packed_bits(from, first + i, bits_of(dtype_of<T>)), T{});
    } else if constexpr (std::is_same_v<T, bool>) {  // a file may contain bytes other than 0 and 1
      const auto* const bytes = reinterpret_cast<const std::uint8_t*>(elements);
      for (std::int64_t i = 0; i < n; ++i) to[i] = bytes[i] != 0;
    } else if constexpr (requires { widen_row(elements, to, n); }) {
      widen_row(elements, to, n);
    } else {
      for (std::int64_t i = 0; i < n; ++i) to[i] = W(elements[i]);
    }
  });
}

template <class W>
void write_wide(const cast_state& how, const W* from, void* to, std::int64_t first, std::int64_t n) {
  const auto each = [&](auto* elements, auto element) {
    for (std::int64_t i = 0; i < n; ++i) elements[first + i] = element(from[i]);
  };
  const auto pack = [&]<dtype Id>(packed<Id>, auto bits) {
    for (std::int64_t i = 0; i < n; ++i) put_packed_bits(to, first + i, bits_of(Id), bits(from[i]));
  };
  const auto small = [&]<dtype Id>(packed<Id> type, detail::float_format format) {
    pack(type, [&](W x) { return packed_from(narrowable(x), format); });
  };
  detail::all_elements::call(how.target, [&]<class T>(std::type_identity<T>) {
    T* const elements = static_cast<T*>(to);
    if constexpr (std::is_same_v<T, float4e2m1>) small(T{}, detail::float4e2m1_format);
    else if constexpr (std::is_same_v<T, float6e2m3>) small(T{}, detail::float6e2m3_format);
    else if constexpr (std::is_same_v<T, float6e3m2>) small(T{}, detail::float6e3m2_format);
    else if constexpr (std::is_empty_v<T>)
      pack(T{}, [](W x) { return integer_from<std::uint8_t>(x) & ((1u << bits_of(dtype_of<T>)) - 1); });
    else if constexpr (std::is_same_v<T, bool>) each(elements, [](W x) { return x != W(0); });
    else if constexpr (std::is_integral_v<T>) write_integers(from, elements + first, n);
    else if constexpr (std::is_same_v<T, float8e8m0>)
      each(elements, [&](W x) { return std::bit_cast<T>(exponent_only(narrowable(x), how.round, how.saturate)); });
    else if constexpr (is_narrow_v<T> || std::is_floating_point_v<T>) write_wide_floats<T>(from, to, first, n);
    else if constexpr (std::is_same_v<wide_for<T>, float>) write_float8<T>(from, to, first, n, how.saturate);
  });
}

template void read_wide(dtype, const void*, std::int64_t, std::int64_t*, std::int64_t);
template void read_wide(dtype, const void*, std::int64_t, std::uint64_t*, std::int64_t);
template void read_wide(dtype, const void*, std::int64_t, float*, std::int64_t);
template void read_wide(dtype, const void*, std::int64_t, double*, std::int64_t);
template void write_wide(const cast_state&, const std::int64_t*, void*, std::int64_t, std::int64_t);
template void write_wide(const cast_state&, const std::uint64_t*, void*, std::int64_t, std::int64_t);
template void write_wide(const cast_state&, const float*, void*, std::int64_t, std::int64_t);
template void write_wide(const cast_state&, const double*, void*, std::int64_t, std::int64_t);

}  // namespace CAMEO_NAMESPACE::eps
