#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>

// Rows of codes, the integers of quantized tensors, by vectors of each instruction set. T is a type of codes of 8 bits;
// where it says so, of 16, too. Every answer is the plain definition's, saturated_sum of quantized.hpp: rounded to
// nearest, ties to even, saturated to the type, NaN as 0.
namespace CAMEO_NAMESPACE::eps {

/// The numbers that codes stand for: (code - zero) * scale. A zero point is a number of the codes' type, which float
/// holds exactly. Where `step` is 1, every element has a scale and a zero point of its own; where it is 0 they share
/// one.
struct code_scales {
  const float* scale;
  const float* zero;
  std::int64_t step;
  code_scales from(std::int64_t i) const { return {scale + i * step, zero + i * step, step}; }
};

/// y[i] = the code of x[i], within [low, high]. T of 16 bits, too.
template <class T>
void quantize_row(const float* x, const code_scales&, float low, float high, T* y, std::int64_t n);
/// y[i] = what x[i] stands for. T of 16 bits, too, and int32, whose zero points are 0.
template <class T>
void dequantize_row(const T* x, const code_scales&, float* y, std::int64_t n);

/// Codes of 4 or 2 bits, the first in the low bits of a byte, to bytes and back; a signed T has signed ones.
template <class T>
void unpack_codes(const std::uint8_t* x, unsigned bits, T* y, std::int64_t n);
template <class T>
void pack_codes(const T* x, unsigned bits, std::uint8_t* y, std::int64_t n);

/// The least of `low` and x, the largest of `high` and x; NaN is neither.
void range_of_row(const float* x, std::int64_t n, float& low, float& high);

/// y[i] = table[x[i]], of 256 entries; y may be x.
void map_codes(const std::uint8_t* table, const std::uint8_t* x, std::uint8_t* y, std::int64_t n);

/// A scale and a zero point for a whole tensor.
struct code_scale {
  float scale, zero;
};
struct code_zip {
  code_scale a, b, y;
};
/// The operators of two tensors of codes.
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
/// y = a + b, or a * b, in codes: operands go on by a step of 1, or repeat one code with a step of 0.
template <class Zip, class T = typename Zip::code>
void zip_codes(const code_zip&, const T* a, std::int64_t a_step, const T* b, std::int64_t b_step, T* y, std::int64_t n);

/// z[i] = which[i] ? x[i] : y[i]
void choose_codes(const bool* which, const std::uint8_t* x, const std::uint8_t* y, std::uint8_t* z, std::int64_t n);

/// Over `count` rows of n codes, `step` codes from one to the next: their sums, and their largest. With `more` those of
/// the rows before, which `sums` and `most` hold, are taken in. Sums have room for 2^22 rows.
template <class T>
void sum_code_rows(const T* x, std::int64_t count, std::int64_t step, bool more, std::int32_t* sums, std::int64_t n);
template <class T>
void most_code_rows(const T* x, std::int64_t count, std::int64_t step, bool more, T* most, std::int64_t n);
/// The sum of a row, and its largest, of at least one code.
template <class T>
std::int64_t sum_of_codes(const T* x, std::int64_t n);
template <class T>
T most_of_codes(const T* x, std::int64_t n);

/// y[i] += x[i] * by in 32 bits, which wrap; T of 16 bits.
template <class T>
void add_shorts(const T* x, std::int32_t by, std::int32_t* y, std::int64_t n);

/// y[i] = float((double(sums[i] - inside * zero) * double(scale)) / counted): means of windows.
void means_of_windows(const std::int32_t* sums, std::int64_t inside, std::int64_t zero, float scale,
                      std::int64_t counted, float* y, std::int64_t n);

}  // namespace CAMEO_NAMESPACE::eps
