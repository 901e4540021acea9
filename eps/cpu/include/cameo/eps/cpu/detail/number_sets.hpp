#pragma once
#include <cameo/kernel/kernel_entry.hpp>

namespace cameo::inline CAMEO_ABI::eps {

// Sets of element types for kernels that compute, as far as the operator's versions allow them.

template <fixed_string TypeString>
inline constexpr auto float_types = constrain<TypeString, float, double, float16, bfloat16>;
template <fixed_string TypeString>
inline constexpr auto integer_types = constrain<TypeString, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t,
                                                std::uint32_t, std::int32_t, std::uint64_t, std::int64_t>;
template <fixed_string TypeString>
inline constexpr auto number_types =
    constrain<TypeString, float, double, float16, bfloat16, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t,
              std::uint32_t, std::int32_t, std::uint64_t, std::int64_t>;
/// Floats and the integers of 4 and 8 bytes: what reductions and the like are defined for.
template <fixed_string TypeString>
inline constexpr auto large_number_types =
    constrain<TypeString, float, double, float16, bfloat16, std::uint32_t, std::int32_t, std::uint64_t, std::int64_t>;
/// Floats and the integers that have a sign.
template <fixed_string TypeString>
inline constexpr auto signed_types =
    constrain<TypeString, float, double, float16, bfloat16, std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
/// Floats, of one byte too.
template <fixed_string TypeString>
inline constexpr auto any_float_types =
    constrain<TypeString, float, double, float16, bfloat16, float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz>;
/// Numbers before bfloat16 came.
template <fixed_string TypeString>
inline constexpr auto first_number_types =
    constrain<TypeString, float, double, float16, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
              std::int32_t, std::uint64_t, std::int64_t>;
/// The types of Relu besides float and double, which have a kernel of their own.
template <fixed_string TypeString>
inline constexpr auto other_relu_types =
    constrain<TypeString, float16, bfloat16, std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
/// The types that Equal compares.
template <fixed_string TypeString>
inline constexpr auto equal_types =
    constrain<TypeString, bool, float, double, float16, bfloat16, std::uint8_t, std::int8_t, std::uint16_t,
              std::int16_t, std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, std::string_view>;
/// The types that ReduceMax and ReduceMin compare.
template <fixed_string TypeString>
inline constexpr auto extreme_types =
    constrain<TypeString, float, double, float16, bfloat16, std::uint32_t, std::int32_t, std::uint64_t, std::int64_t,
              std::uint8_t, std::int8_t, bool>;
/// The types of bases of Pow, with any exponent.
template <fixed_string TypeString>
inline constexpr auto base_types = constrain<TypeString, float, double, float16, bfloat16, std::int32_t, std::int64_t>;
/// All types of CastLike: all but complex numbers and the floats of six bits.
template <fixed_string TypeString>
inline constexpr auto cast_like_types =
    constrain<TypeString, bool, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
              std::uint64_t, std::int64_t, float16, float, double, bfloat16, std::string_view, float8e4m3fn,
              float8e4m3fnuz, float8e5m2, float8e5m2fnuz, float8e8m0, uint4, int4, uint2, int2, float4e2m1>;
/// All types of Cast: all but complex numbers.
template <fixed_string TypeString>
inline constexpr auto cast_types =
    constrain<TypeString, bool, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
              std::uint64_t, std::int64_t, float16, float, double, bfloat16, std::string_view, float8e4m3fn,
              float8e4m3fnuz, float8e5m2, float8e5m2fnuz, float8e8m0, uint4, int4, uint2, int2, float4e2m1, float6e2m3,
              float6e3m2>;

}  // namespace cameo::inline CAMEO_ABI::eps
