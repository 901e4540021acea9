#pragma once
#include <cameo/kernel/kernel_entry.hpp>

namespace cameo::inline CAMEO_ABI::eps {

// Sets of element types for kernels that only move elements: all types of whole bytes, as far as the operator's
// versions allow them.

/// All types of ONNX's first versions.
template <fixed_string TypeString>
inline constexpr auto first_types =
    constrain<TypeString, bool, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
              std::uint64_t, std::int64_t, float16, float, double, std::string_view, complex64, complex128>;
/// And bfloat16.
template <fixed_string TypeString>
inline constexpr auto basic_types =
    constrain<TypeString, bool, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
              std::uint64_t, std::int64_t, float16, float, double, std::string_view, complex64, complex128, bfloat16>;
/// The numbers and strings among them.
template <fixed_string TypeString>
inline constexpr auto real_types =
    constrain<TypeString, bool, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
              std::uint64_t, std::int64_t, float16, float, double, std::string_view, bfloat16>;
/// And the floats of one byte.
template <fixed_string TypeString>
inline constexpr auto byte_types =
    constrain<TypeString, bool, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
              std::uint64_t, std::int64_t, float16, float, double, std::string_view, complex64, complex128, bfloat16,
              float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz, float8e8m0>;
/// The element types of matrices.
template <fixed_string TypeString>
inline constexpr auto multiplied_types =
    constrain<TypeString, float, double, float16, bfloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;

}  // namespace cameo::inline CAMEO_ABI::eps
