#include "cast_rows.hpp"

#include <cameo/eps/cpu/detail/narrow_rows.hpp>

#include <cmath>
#include <limits>

namespace cameo::inline CAMEO_ABI::eps {
namespace {

template <class T, class W>
void read_plain(const void* from, std::int64_t first, W* to, std::int64_t n) {
  const T* const elements = static_cast<const T*>(from) + first;
  for (std::int64_t i = 0; i < n; ++i) to[i] = W(elements[i]);
}

/// The bits of element i of a packed type.
std::uint32_t packed_bits(const void* from, std::int64_t i, unsigned width) {
  const auto bit = std::uint64_t(i) * width;
  return static_cast<const std::uint8_t*>(from)[bit / 8] >> bit % 8 & ((1u << width) - 1);
}
void put_packed_bits(void* to, std::int64_t i, unsigned width, std::uint32_t bits) {
  const auto bit = std::uint64_t(i) * width;
  std::uint8_t& byte = static_cast<std::uint8_t*>(to)[bit / 8];
  const auto kept = bit % 8 ? byte & ((1u << bit % 8) - 1) : 0u;  // the first one of a byte clears the rest of it
  byte = std::uint8_t(kept | bits << bit % 8);
}

template <class W>
void read_packed_integers(const void* from, std::int64_t first, W* to, std::int64_t n, unsigned width, bool is_signed) {
  const std::int64_t top = std::int64_t{1} << (width - 1);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto bits = std::int64_t(packed_bits(from, first + i, width));
    to[i] = W(is_signed && bits >= top ? bits - 2 * top : bits);
  }
}
template <class W>
void read_small_floats(const void* from, std::int64_t first, W* to, std::int64_t n, detail::float_format format) {
  const unsigned width = format.exponent_bits + format.mantissa_bits == 3 ? 4 : 8;
  for (std::int64_t i = 0; i < n; ++i)
    to[i] = W(widen(std::uint16_t(packed_bits(from, first + i, width) & (width == 4 ? 0xF : 0x3F)), format));
}

/// Cut towards zero, held at the ends; NaN is 0.
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

/// A float that rounds on to any narrower format as the double would: an inexact one ends in an odd bit.
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
  // Up to the next power of two: from 2^-127, which float holds as a subnormal, it is half as far.
  const std::uint32_t past = exponent ? mantissa : mantissa - 0x400000, half = exponent ? 0x400000 : 0x200000;
  const bool up =
      round == cast_state::rounding::up ? past != 0 : round == cast_state::rounding::nearest && past >= half;
  const std::uint32_t code = exponent + up;
  return code < 0xFF ? std::uint8_t(code) : saturate ? largest : nan;
}

template <class T, class W>
void write_integers(const W* from, void* to, std::int64_t first, std::int64_t n) {
  T* const elements = static_cast<T*>(to) + first;
  for (std::int64_t i = 0; i < n; ++i) elements[i] = integer_from<T>(from[i]);
}
template <class T, class W>
void write_floats(const W* from, void* to, std::int64_t first, std::int64_t n) {
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
  // Where the format has an infinity, ONNX's table saturates that too.
  constexpr auto finite = [](float x) {
    constexpr float most = std::numeric_limits<float>::max();
    return x > most ? most : x < -most ? -most : x;
  };
  for (std::int64_t i = 0; i < n; ++i) {
    const float x = narrowable(from[i]);
    elements[i] = T(saturate ? finite(x) : x, saturate);
  }
}
template <class W>
void write_packed_integers(const W* from, void* to, std::int64_t first, std::int64_t n, unsigned width) {
  for (std::int64_t i = 0; i < n; ++i)
    put_packed_bits(to, first + i, width, integer_from<std::uint8_t>(from[i]) & ((1u << width) - 1));
}
template <class W>
void write_small_floats(const W* from, void* to, std::int64_t first, std::int64_t n, detail::float_format format) {
  const unsigned width = format.exponent_bits + format.mantissa_bits == 3 ? 4 : 8;
  for (std::int64_t i = 0; i < n; ++i) {
    const float x = narrowable(from[i]);
    // There is no NaN; the code of -0 stands for it, as elsewhere.
    const std::uint32_t nan = width == 4 ? 0x8 : 0x20;
    put_packed_bits(to, first + i, width, x == x ? narrow(x, format) : nan);
  }
}

}  // namespace

template <class W>
void read_wide(dtype type, const void* from, std::int64_t first, W* to, std::int64_t n) {
  constexpr bool whole = std::is_same_v<W, std::int64_t>, single = std::is_same_v<W, float>;
  switch (type) {
    case dtype::boolean: {
      const auto* const bytes = static_cast<const std::uint8_t*>(from) + first;
      for (std::int64_t i = 0; whole && i < n; ++i) to[i] = W(bytes[i] != 0);
      return;
    }
    case dtype::u8:
      if constexpr (whole) read_plain<std::uint8_t>(from, first, to, n);
      return;
    case dtype::i8:
      if constexpr (whole) read_plain<std::int8_t>(from, first, to, n);
      return;
    case dtype::u16:
      if constexpr (whole) read_plain<std::uint16_t>(from, first, to, n);
      return;
    case dtype::i16:
      if constexpr (whole) read_plain<std::int16_t>(from, first, to, n);
      return;
    case dtype::u32:
      if constexpr (whole) read_plain<std::uint32_t>(from, first, to, n);
      return;
    case dtype::i32:
      if constexpr (whole) read_plain<std::int32_t>(from, first, to, n);
      return;
    case dtype::i64:
      if constexpr (whole) read_plain<std::int64_t>(from, first, to, n);
      return;
    case dtype::u64:
      if constexpr (std::is_same_v<W, std::uint64_t>) read_plain<W>(from, first, to, n);
      return;
    case dtype::f64:
      if constexpr (std::is_same_v<W, double>) read_plain<W>(from, first, to, n);
      return;
    case dtype::u4:
      if constexpr (whole) read_packed_integers(from, first, to, n, 4, false);
      return;
    case dtype::i4:
      if constexpr (whole) read_packed_integers(from, first, to, n, 4, true);
      return;
    case dtype::u2:
      if constexpr (whole) read_packed_integers(from, first, to, n, 2, false);
      return;
    case dtype::i2:
      if constexpr (whole) read_packed_integers(from, first, to, n, 2, true);
      return;
    default: break;
  }
  if constexpr (single) switch (type) {
      case dtype::f32: return read_plain<float>(from, first, to, n);
      case dtype::f16: return widen_row(static_cast<const float16*>(from) + first, to, n);
      case dtype::bf16: return widen_row(static_cast<const bfloat16*>(from) + first, to, n);
      case dtype::f8e4m3fn: return widen_row(static_cast<const float8e4m3fn*>(from) + first, to, n);
      case dtype::f8e4m3fnuz: return widen_row(static_cast<const float8e4m3fnuz*>(from) + first, to, n);
      case dtype::f8e5m2: return widen_row(static_cast<const float8e5m2*>(from) + first, to, n);
      case dtype::f8e5m2fnuz: return widen_row(static_cast<const float8e5m2fnuz*>(from) + first, to, n);
      case dtype::f8e8m0: return read_plain<float8e8m0>(from, first, to, n);
      case dtype::f4e2m1: return read_small_floats(from, first, to, n, detail::float4e2m1_format);
      case dtype::f6e2m3: return read_small_floats(from, first, to, n, detail::float6e2m3_format);
      case dtype::f6e3m2: return read_small_floats(from, first, to, n, detail::float6e3m2_format);
      default: return;
    }
}

template <class W>
void write_wide(const cast_state& how, const W* from, void* to, std::int64_t first, std::int64_t n) {
  const bool saturate = how.saturate;
  switch (how.to) {
    case dtype::boolean: {
      auto* const bytes = static_cast<std::uint8_t*>(to) + first;
      for (std::int64_t i = 0; i < n; ++i) bytes[i] = from[i] != W(0);
      return;
    }
    case dtype::u8: return write_integers<std::uint8_t>(from, to, first, n);
    case dtype::i8: return write_integers<std::int8_t>(from, to, first, n);
    case dtype::u16: return write_integers<std::uint16_t>(from, to, first, n);
    case dtype::i16: return write_integers<std::int16_t>(from, to, first, n);
    case dtype::u32: return write_integers<std::uint32_t>(from, to, first, n);
    case dtype::i32: return write_integers<std::int32_t>(from, to, first, n);
    case dtype::u64: return write_integers<std::uint64_t>(from, to, first, n);
    case dtype::i64: return write_integers<std::int64_t>(from, to, first, n);
    case dtype::f32: return write_floats<float>(from, to, first, n);
    case dtype::f64: return write_floats<double>(from, to, first, n);
    case dtype::f16: return write_floats<float16>(from, to, first, n);
    case dtype::bf16: return write_floats<bfloat16>(from, to, first, n);
    case dtype::f8e4m3fn: return write_float8<float8e4m3fn>(from, to, first, n, saturate);
    case dtype::f8e4m3fnuz: return write_float8<float8e4m3fnuz>(from, to, first, n, saturate);
    case dtype::f8e5m2: return write_float8<float8e5m2>(from, to, first, n, saturate);
    case dtype::f8e5m2fnuz: return write_float8<float8e5m2fnuz>(from, to, first, n, saturate);
    case dtype::f8e8m0: {
      auto* const codes = static_cast<std::uint8_t*>(to) + first;
      for (std::int64_t i = 0; i < n; ++i) codes[i] = exponent_only(narrowable(from[i]), how.round, saturate);
      return;
    }
    case dtype::u4:
    case dtype::i4: return write_packed_integers(from, to, first, n, 4);
    case dtype::u2:
    case dtype::i2: return write_packed_integers(from, to, first, n, 2);
    case dtype::f4e2m1: return write_small_floats(from, to, first, n, detail::float4e2m1_format);
    case dtype::f6e2m3: return write_small_floats(from, to, first, n, detail::float6e2m3_format);
    case dtype::f6e3m2: return write_small_floats(from, to, first, n, detail::float6e3m2_format);
    default: return;
  }
}

template void read_wide(dtype, const void*, std::int64_t, std::int64_t*, std::int64_t);
template void read_wide(dtype, const void*, std::int64_t, std::uint64_t*, std::int64_t);
template void read_wide(dtype, const void*, std::int64_t, float*, std::int64_t);
template void read_wide(dtype, const void*, std::int64_t, double*, std::int64_t);
template void write_wide(const cast_state&, const std::int64_t*, void*, std::int64_t, std::int64_t);
template void write_wide(const cast_state&, const std::uint64_t*, void*, std::int64_t, std::int64_t);
template void write_wide(const cast_state&, const float*, void*, std::int64_t, std::int64_t);
template void write_wide(const cast_state&, const double*, void*, std::int64_t, std::int64_t);

}  // namespace cameo::inline CAMEO_ABI::eps
