#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/kernel/kernel_entry.hpp>

namespace CAMEO_NAMESPACE::eps {

// Sets of element types. A kernel's set contains the types for which its loops are compiled; together with the types
// that the operator's versions allow, it is what the kernel list offers.

template <detail::type_mask Mask, class... Ts>
consteval auto elements_of_mask(detail::element_set<>, detail::element_set<Ts...> found) {
  return found;
}
template <detail::type_mask Mask, class T, class... Rest, class... Ts>
consteval auto elements_of_mask(detail::element_set<T, Rest...>, detail::element_set<Ts...>) {
  using more = std::conditional_t<(Mask & mask_of<T>) != 0, detail::element_set<Ts..., T>, detail::element_set<Ts...>>;
  return elements_of_mask<Mask>(detail::element_set<Rest...>{}, more{});
}
template <detail::type_mask Mask>
using masked_elements = decltype(elements_of_mask<Mask>(detail::all_elements{}, detail::element_set<>{}));

/// The element types that take whole bytes, which kernels can move without further knowledge of the type.
using whole_elements = masked_elements<[] {
  detail::type_mask whole = 0;
  for (const detail::dtype_row& row : detail::elements::rows)
    if (row.bits >= 8) whole |= detail::bit_of(row.id);
  return whole;
}()>;

using float_elements = detail::element_set<float, double, float16, bfloat16>;
using truth_elements = detail::element_set<bool>;
using integer_elements = detail::integer_elements;
using number_elements = detail::number_elements;
/// Floats and the integers of 4 and 8 bytes, for which ONNX defines reductions and similar operators.
using large_number_elements =
    detail::element_set<float, double, float16, bfloat16, std::uint32_t, std::int32_t, std::uint64_t, std::int64_t>;
/// Floats and signed integers.
using signed_elements =
    detail::element_set<float, double, float16, bfloat16, std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
/// The number types of opsets that precede bfloat16.
using first_number_elements =
    detail::element_set<float, double, float16, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                        std::int32_t, std::uint64_t, std::int64_t>;
/// The float types of opsets that precede bfloat16.
using first_float_elements = detail::element_set<float, double, float16>;
/// Floats, including those of 8 bits.
using any_float_elements =
    detail::element_set<float, double, float16, bfloat16, float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz>;
/// The types that Equal compares.
using equal_elements =
    detail::element_set<bool, float, double, float16, bfloat16, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t,
                        std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, std::string_view>;
/// The types that ReduceMax and ReduceMin compare.
using extreme_elements = detail::element_set<float, double, float16, bfloat16, std::uint32_t, std::int32_t,
                                             std::uint64_t, std::int64_t, std::uint8_t, std::int8_t, bool>;
/// The types of the base of Pow; the exponent may have any number type.
using base_elements = detail::element_set<float, double, float16, bfloat16, std::int32_t, std::int64_t>;

/// The floats of at most 32 bits, in which models of text compute.
using text_model_elements = detail::element_set<float, float16, bfloat16>;
using string_elements = detail::element_set<std::string_view>;
/// Numbers and bool.
using number_and_truth_elements = masked_elements<number_elements::mask | mask_of<bool>>;
/// Types of whole bytes, except floats of 8 bits.
using basic_elements =
    masked_elements<whole_elements::mask & ~mask_of<float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz,
                                                    float8e8m0, float6e2m3, float6e3m2>>;
/// Subsets of basic_elements: the types that are ordered, and the types that can be added.
using ordered_elements = masked_elements<basic_elements::mask & ~mask_of<complex64, complex128>>;
using summed_elements = masked_elements<basic_elements::mask & ~mask_of<std::string_view>>;
/// The types that Cast converts: all but complex numbers.
using cast_elements = masked_elements<detail::all_elements::mask & ~mask_of<complex64, complex128>>;
/// The column types of the tables that operators of ai.onnx.ml take.
using table_elements = detail::element_set<float, double, std::int32_t, std::int64_t>;

/// The type of the arithmetic: float for float16 and bfloat16, T itself for all others.
template <class T>
using computed_in = std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>;

template <detail::fixed_string TypeString, class... Ts>
constexpr constraints<detail::one_of<TypeString, Ts...>> allow(detail::element_set<Ts...>) {
  return {};
}
/// The type string of an operator's first input.
template <class Op>
inline constexpr auto type_string_of = [] {
  constexpr std::string_view text = Op::versions[0].inputs[0].type_string;
  char chars[text.size() + 1]{};
  for (std::size_t i = 0; i < text.size(); ++i) chars[i] = text[i];
  return detail::fixed_string{chars};
}();

template <detail::fixed_string TypeString>
inline constexpr auto number_types = allow<TypeString>(number_elements{});
template <detail::fixed_string TypeString>
inline constexpr auto base_types = allow<TypeString>(base_elements{});
/// The element types of matrices.
template <detail::fixed_string TypeString>
inline constexpr auto multiplied_types =
    constrain<TypeString, float, double, float16, bfloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;

}  // namespace CAMEO_NAMESPACE::eps
