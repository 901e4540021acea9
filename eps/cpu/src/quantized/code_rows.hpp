#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>

// Loops over rows of quantized values ("codes" in names), compiled for each instruction set. T is int8 or uint8, unless
// stated otherwise. All results are equal to those of the definition, saturated_sum() of quantized.hpp: rounded to
// nearest, ties to even, and saturated to the type; NaN becomes 0.
namespace CAMEO_NAMESPACE::eps {

/// The scales and zero points of quantized values, which represent the real numbers (value - zero) * scale. A zero
/// point has the type of the values, all of which float represents exactly. `step` is 1 if each element has a separate
/// scale and zero point, and 0 if all share one.
struct code_scales {
  const float* scale;
  const float* zero;
  std::int64_t step;
};

/// Quantizes a row, clamped to [low, high]. T may also be int16 or uint16.
template <class T>
void quantize_row(const float* x, const code_scales&, float low, float high, T* y, std::int64_t n);
/// Dequantizes a row. T may also be int16, uint16, or int32 with zero points of 0.
template <class T>
void dequantize_row(const T* x, const code_scales&, float* y, std::int64_t n);

/// Unpacks values of 4 or 2 bits, of which the first is in the low bits of a byte, to bytes; pack_codes() is the
/// inverse. The values are signed if T is.
template <class T>
void unpack_codes(const std::uint8_t* x, unsigned bits, T* y, std::int64_t n);
template <class T>
void pack_codes(const T* x, unsigned bits, std::uint8_t* y, std::int64_t n);

/// Extends the range [low, high] by the elements of x, without NaN.
void range_of_row(const float* x, std::int64_t n, float& low, float& high);

/// y[i] = table[x[i]]. The table has 256 entries; y may be x.
void map_codes(const std::uint8_t* table, const std::uint8_t* x, std::uint8_t* y, std::int64_t n);

/// The scale and zero point of a whole tensor.
struct code_scale {
  float scale, zero;
};
/// The scales and zero points of an operator with two operands.
struct code_zip {
  code_scale a, b, y;
};
/// Tags for the operators of two quantized tensors: code_sum for QLinearAdd, code_product for QLinearMul.
template <class T>
struct code_sum {
  using code = T;
  static constexpr bool product = false;
};
template <class T>
struct code_product {
  using code = T;
  static constexpr bool product = true;
};
/// y = a + b, or a * b. A step of 0 repeats the first element of an operand, the other step is 1.
template <class Zip, class T = typename Zip::code>
void zip_codes(const code_zip&, const T* a, std::int64_t a_step, const T* b, std::int64_t b_step, T* y, std::int64_t n);

/// z[i] = which[i] ? x[i] : y[i]
void choose_codes(const bool* which, const std::uint8_t* x, const std::uint8_t* y, std::uint8_t* z, std::int64_t n);

/// The sums, or the maxima, of `count` rows of n values, which are `step` values apart: sums[i] is that of element i of
/// all rows. If `more`, the previous contents of `sums` or `most` are included. Sums of up to 2^22 rows don't overflow.
template <class T>
void sum_code_rows(const T* x, std::int64_t count, std::int64_t step, bool more, std::int32_t* sums, std::int64_t n);
template <class T>
void most_code_rows(const T* x, std::int64_t count, std::int64_t step, bool more, T* most, std::int64_t n);
/// The sum of a row, and its maximum (n is at least 1).
template <class T>
std::int64_t sum_of_codes(const T* x, std::int64_t n);
template <class T>
T most_of_codes(const T* x, std::int64_t n);

/// y[i] += x[i] * by in 32 bits, which wrap. T is int16 or uint16.
template <class T>
void add_shorts(const T* x, std::int32_t by, std::int32_t* y, std::int64_t n);

/// Computes the means of windows from sums of `inside` values:
/// y[i] = float((double(sums[i] - inside * zero) * double(scale)) / counted).
void means_of_windows(const std::int32_t* sums, std::int64_t inside, std::int64_t zero, float scale,
                      std::int64_t counted, float* y, std::int64_t n);

}  // namespace CAMEO_NAMESPACE::eps
