#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/kernel/kernel_entry.hpp>

namespace cameo::inline CAMEO_ABI::eps {

// Sets of element types that kernels compute with: the types for which their loops are compiled, and what the list of
// kernels allows, as far as the operator's versions do.

using float_elements = detail::element_set<float, double, float16, bfloat16>;
using truth_elements = detail::element_set<bool>;
using integer_elements = detail::integer_elements;
using number_elements = detail::number_elements;
/// Floats and the integers of 4 and 8 bytes: what reductions and the like are defined for.
using large_number_elements =
    detail::element_set<float, double, float16, bfloat16, std::uint32_t, std::int32_t, std::uint64_t, std::int64_t>;
/// Floats and the integers that have a sign.
using signed_elements =
    detail::element_set<float, double, float16, bfloat16, std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
/// Numbers before bfloat16 came.
using first_number_elements =
    detail::element_set<float, double, float16, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                        std::int32_t, std::uint64_t, std::int64_t>;
/// Floats before bfloat16 came.
using first_float_elements = detail::element_set<float, double, float16>;
/// Floats, of one byte too.
using any_float_elements =
    detail::element_set<float, double, float16, bfloat16, float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz>;
/// The types that Equal compares.
using equal_elements =
    detail::element_set<bool, float, double, float16, bfloat16, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t,
                        std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, std::string_view>;
/// The types that ReduceMax and ReduceMin compare.
using extreme_elements = detail::element_set<float, double, float16, bfloat16, std::uint32_t, std::int32_t,
                                             std::uint64_t, std::int64_t, std::uint8_t, std::int8_t, bool>;
/// The types of bases of Pow, with any exponent.
using base_elements = detail::element_set<float, double, float16, bfloat16, std::int32_t, std::int64_t>;

/// Narrow floats compute in float, all others in their own type.
template <class T>
using computed_in = std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>;

template <fixed_string TypeString, class... Ts>
constexpr constraints<detail::one_of<TypeString, Ts...>> allow(detail::element_set<Ts...>) {
  return {};
}
/// The type string of an operator's first input.
template <class Op>
inline constexpr auto type_string_of = [] {
  constexpr std::string_view text = Op::versions[0].inputs[0].type_string;
  char chars[text.size() + 1]{};
  for (std::size_t i = 0; i < text.size(); ++i) chars[i] = text[i];
  return fixed_string{chars};
}();

template <fixed_string TypeString>
inline constexpr auto float_types = allow<TypeString>(float_elements{});
template <fixed_string TypeString>
inline constexpr auto integer_types = allow<TypeString>(integer_elements{});
template <fixed_string TypeString>
inline constexpr auto number_types = allow<TypeString>(number_elements{});
template <fixed_string TypeString>
inline constexpr auto large_number_types = allow<TypeString>(large_number_elements{});
template <fixed_string TypeString>
inline constexpr auto signed_types = allow<TypeString>(signed_elements{});
template <fixed_string TypeString>
inline constexpr auto any_float_types = allow<TypeString>(any_float_elements{});
template <fixed_string TypeString>
inline constexpr auto equal_types = allow<TypeString>(equal_elements{});
template <fixed_string TypeString>
inline constexpr auto extreme_types = allow<TypeString>(extreme_elements{});
template <fixed_string TypeString>
inline constexpr auto base_types = allow<TypeString>(base_elements{});
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
