#pragma once
#include <cameo/core/checked.hpp>
#include <cameo/core/fixed_string.hpp>
#include <cameo/core/narrow_float.hpp>
#include <cameo/core/status.hpp>

namespace CAMEO_NAMESPACE {

// clang-format off
/// Element types, numbered as in ONNX's TensorProto.DataType.
enum class dtype : std::uint8_t {
  undefined, f32, u8, i8, u16, i16, i32, i64, string, boolean, f16, f64, u32, u64, c64, c128, bf16,
  f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, u4, i4, f4e2m1, f8e8m0, u2, i2, f6e2m3, f6e3m2, count
};
// clang-format on

/// ONNX's complex64.
struct complex64 {
  float re, im;
  constexpr bool operator==(const complex64&) const = default;
};
/// ONNX's complex128.
struct complex128 {
  double re, im;
  constexpr bool operator==(const complex128&) const = default;
};

/// Names a type whose elements are stored packed: several per byte, the first in the lowest bits. (The 6-bit floats
/// take a byte each.) Kernels read such elements as bytes; `packed<...>` is only used in type constraints.
template <dtype Id>
struct packed {};
/// The packed types by name: `constrain<"T", cameo::int4>`.
using uint4 = packed<dtype::u4>;
using int4 = packed<dtype::i4>;
using uint2 = packed<dtype::u2>;
using int2 = packed<dtype::i2>;
using float4e2m1 = packed<dtype::f4e2m1>;
using float6e2m3 = packed<dtype::f6e2m3>;
using float6e3m2 = packed<dtype::f6e3m2>;

namespace detail {
/// The properties of an element type. `bits` is the storage of one element; a string is a std::string_view.
struct dtype_row {
  dtype id;
  std::uint8_t bits;
  char name[18];  // as ONNX writes it: tensor(NAME)
};

/// One element type: its number, C++ type, name and bits.
template <dtype Id, class T, fixed_string Name, std::size_t Bits = 8 * sizeof(T)>
struct element {
  static constexpr dtype id_of(std::type_identity<T>) { return Id; }
  /// The properties of the element type as plain data.
  static constexpr dtype_row row() {
    dtype_row row{Id, Bits, {}};
    for (std::size_t i = 0; i < sizeof Name.chars; ++i) row.name[i] = Name.chars[i];
    return row;
  }
};
/// Finds an element type by number as a row, by C++ type as an overload (two rows with one type do not compile).
template <class... Elements>
struct element_table : Elements... {
  using Elements::id_of...;
  static constexpr dtype_row rows[] = {{dtype::undefined, 0, "undefined"}, Elements::row()...};
  static constexpr std::uint8_t bits[] = {0, Elements::row().bits...};
};
/// Every element type of ONNX, in the order of dtype.
using elements =
    element_table<element<dtype::f32, float, "float">, element<dtype::u8, std::uint8_t, "uint8">,
                  element<dtype::i8, std::int8_t, "int8">, element<dtype::u16, std::uint16_t, "uint16">,
                  element<dtype::i16, std::int16_t, "int16">, element<dtype::i32, std::int32_t, "int32">,
                  element<dtype::i64, std::int64_t, "int64">, element<dtype::string, std::string_view, "string">,
                  element<dtype::boolean, bool, "bool">, element<dtype::f16, float16, "float16">,
                  element<dtype::f64, double, "double">, element<dtype::u32, std::uint32_t, "uint32">,
                  element<dtype::u64, std::uint64_t, "uint64">, element<dtype::c64, complex64, "complex64">,
                  element<dtype::c128, complex128, "complex128">, element<dtype::bf16, bfloat16, "bfloat16">,
                  element<dtype::f8e4m3fn, float8e4m3fn, "float8e4m3fn">,
                  element<dtype::f8e4m3fnuz, float8e4m3fnuz, "float8e4m3fnuz">,
                  element<dtype::f8e5m2, float8e5m2, "float8e5m2">,
                  element<dtype::f8e5m2fnuz, float8e5m2fnuz, "float8e5m2fnuz">, element<dtype::u4, uint4, "uint4", 4>,
                  element<dtype::i4, int4, "int4", 4>, element<dtype::f4e2m1, float4e2m1, "float4e2m1", 4>,
                  element<dtype::f8e8m0, float8e8m0, "float8e8m0">, element<dtype::u2, uint2, "uint2", 2>,
                  element<dtype::i2, int2, "int2", 2>, element<dtype::f6e2m3, float6e2m3, "float6e2m3", 8>,
                  element<dtype::f6e3m2, float6e3m2, "float6e3m2", 8>>;
static_assert(complete_and_in_order(elements::rows), "cameo: `elements` lists every dtype once, in enum order");
}  // namespace detail

/// A C++ type that elements of tensors can have: one of detail::elements.
template <class T>
concept element_type = requires { detail::elements::id_of(std::type_identity<T>{}); };
/// The number of a C++ type: `dtype_of<float>` is `dtype::f32`.
template <element_type T>
inline constexpr dtype dtype_of = detail::elements::id_of(std::type_identity<T>{});
namespace detail {
/// Gives the compiler's error message when T is not an element type.
template <class T>
struct element_check {
  static_assert(element_type<T>,
                "cameo: not an element type of ONNX; core/dtype.hpp lists those and their C++ types (for long long "
                "use std::int64_t, for char std::int8_t or std::uint8_t, for text std::string_view)");
};

/// The properties of an element type.
constexpr const dtype_row& row_of(dtype type) { return detail::elements::rows[std::size_t(type)]; }
}  // namespace detail
/// row_of(type).bits, for programs that do not use the names.
constexpr std::uint8_t bits_of(dtype type) { return detail::elements::bits[std::size_t(type)]; }

namespace detail {
/// The dtype with this name ("float", "int64", ...), or `undefined`.
constexpr dtype dtype_named(std::string_view name) {
  for (const dtype_row& row : detail::elements::rows)
    if (name == row.name) return row.id;
  return dtype::undefined;
}

/// A set of element types: bit i stands for dtype i.
using type_mask = std::uint32_t;
/// The set that holds only this type.
constexpr type_mask bit_of(dtype type) { return type_mask{1} << unsigned(type); }
}  // namespace detail
/// The set of these C++ types: `mask_of<float, double>`.
template <element_type... Ts>
inline constexpr detail::type_mask mask_of = (detail::type_mask{} | ... | detail::bit_of(dtype_of<Ts>));

namespace detail {
/// Computes the bytes that `count` elements take; returns false when that overflows.
[[nodiscard]] constexpr bool checked_bytes(dtype type, std::uint64_t count, std::uint64_t& bytes) {
  std::uint64_t bits = 0;
  if (!checked_multiply(count, std::uint64_t{bits_of(type)}, bits)) return false;
  bytes = bits / 8 + (bits % 8 != 0);
  return true;
}
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
