#include "group_codes.hpp"

#include <bit>
#include <cmath>
#include <cstring>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Returns the nearest integer, ties to even, saturated to [least, most]; `most` for NaN.
int nearest_code(float v, float least, float most) {
  const float whole = std::nearbyint(v);
  return int(!(whole < most) ? most : whole < least ? least : whole);
}
constexpr int code_zero = 8;  // the zero point of 4-bit values

/// Unpacks a row of 4-bit values, two in a byte, to int8: eight at once, in the bytes of one integer.
void unpack_row(const std::uint8_t* codes, std::int8_t* to, std::int64_t n) {
  static_assert(std::endian::native == std::endian::little);
  const auto every = [](std::uint64_t byte) { return byte * 0x0101010101010101u; };
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    std::uint32_t packed = 0;
    std::memcpy(&packed, codes + i / 2, sizeof packed);
    std::uint64_t wide = (packed | std::uint64_t(packed) << 16) & 0x0000FFFF0000FFFFu;
    wide = (wide | wide << 8) & 0x00FF00FF00FF00FFu;
    wide = (wide | wide << 4) & every(0x0F);
    wide = ((wide | every(0x80)) - every(code_zero)) ^ every(0x80);  // the high bits keep bytes from borrowing
    std::memcpy(to + i, &wide, sizeof wide);
  }
  for (; i < n; ++i) to[i] = std::int8_t((codes[i / 2] >> (i % 2 ? 4 : 0) & 15) - code_zero);
}

}  // namespace

void store_codes(dtype type, const float* row, const float* scales, std::int64_t n, std::byte* to) {
  const auto scaled = [&](std::int64_t i) { return row[i] * (scales[i] == 0 ? 1 : 1 / scales[i]); };
  if (type == dtype::i8) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = std::byte(nearest_code(scaled(i), -128, 127));
  } else if (type == dtype::f8e4m3fn) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = std::byte(float8e4m3fn{scaled(i)}.bits);
  } else {
    const auto code = [&](std::int64_t i) { return nearest_code(scaled(i), -8, 7) + code_zero; };
    for (std::int64_t i = 0; i < n; i += 2) to[i / 2] = std::byte(code(i) | (i + 1 < n ? code(i + 1) << 4 : 0));
  }
}

result<key_rows> numbers_of_codes(run_context& c, const key_rows& stored, std::int64_t size) {
  const geometry::attention_heads& at = stored.at;
  const geometry::attention_heads split = split_heads(at.batches, at.heads, at.length, size);
  if (stored.type == dtype::i8) return key_rows{stored.data, dtype::i8, split};
  const std::int64_t rows = at.batches * at.heads * at.length, grain = 1 + (1 << 15) / (1 + size);
  const auto count = std::size_t(rows * size);
  const auto* const codes = static_cast<const std::uint8_t*>(stored.data);
  if (stored.type == dtype::f8e4m3fn) {
    const auto made = c.scratch<float16>(count);
    if (!made) return made.error();
    parallel_for(c, rows, grain, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first * size; i < last * size; ++i)
        (*made)[std::size_t(i)] = float16{float(float8e4m3fn::from_bits(codes[i]))};
    });
    return key_rows{made->data(), dtype::f16, split};
  }
  const auto made = c.scratch<std::int8_t>(count);
  if (!made) return made.error();
  parallel_each_row(c, rows, grain, [&](std::int64_t r, std::size_t) {
    unpack_row(codes + r * at.size, made->data() + r * size, size);
  });
  return key_rows{made->data(), dtype::i8, split};
}

result<const float*> channel_scales(run_context& c, const value& scales, std::string_view name, bool per_channel,
                                    std::int64_t heads, std::int64_t size) {
  const std::int64_t all = heads * size, count = scales ? scales.shape.count() : 0;
  if (status s = check_count(name, count, per_channel ? all : 1); !s) return s;
  const float* const given = static_cast<const float*>(scales.data);
  if (per_channel) return given;
  const auto made = c.scratch<float>(std::size_t(all));
  if (!made) return made.error();
  std::fill(made->begin(), made->end(), *given);
  return static_cast<const float*>(made->data());
}

}  // namespace CAMEO_NAMESPACE::eps
