// Checks and packs the weights of MatMulNBits.
#include "nbits_weights.hpp"

#include <cstring>

#include "functions/quantized.hpp"
#include "nbits_panels.hpp"
#include "operands/refuse.hpp"
#include "skeletons/float_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

std::uint8_t zero_code(const nbits_matrix& m, const value& zeros, std::int64_t j, std::int64_t b) {
  return packed_code(static_cast<const std::uint8_t*>(zeros.data) + j * m.zero_bytes(), b, m.bits);
}

/// The layout of MatMulNBits' inputs, for pack_panels().
struct nbits_form {
  static constexpr std::size_t codes = 1, scales = 2, zeros = 3;
  const nbits_matrix& m;
  dtype zero_type = dtype::undefined;

  std::uint32_t group(const value& from, std::int64_t j, std::int64_t g) const {
    std::uint32_t bits = 0;
    std::memcpy(&bits, static_cast<const std::uint8_t*>(from.data) + (j * m.groups() + g) * 4, sizeof bits);
    return bits;
  }
  float scale(const value& from, std::int64_t j, std::int64_t b) const {
    return float_at<float>(from, j * m.blocks() + b);
  }
  std::uint8_t zero(const value& from, std::int64_t j, std::int64_t b) const { return zero_code(m, from, j, b); }
  float float_zero(const value& from, std::int64_t j, std::int64_t b) const { return scale(from, j, b); }
};

/// An input that may be absent.
status check_elements(std::string_view name, const value& v, std::int64_t count) {
  return check_count(name, v ? v.shape.count() : count, count);
}

}  // namespace

status check_matrix(const nbits_matrix& m) {
  std::int64_t all = 0;
  return check_fits("B", checked_multiply(m.depth() * 8, m.n + 64, all));
}

status check_weights(const nbits_matrix& m, const value& b, const value& scales, const value& zeros,
                     const value& bias) {
  if (status s = check_elements("B", b, m.n * m.blocks() * m.block_bytes()); !s) return s;
  if (status s = check_elements("scales", scales, m.n * m.blocks()); !s) return s;
  const std::int64_t of_zeros = m.n * (zeros.type == dtype::u8 ? m.zero_bytes() : m.blocks());
  if (status s = check_elements("zero_points", zeros, of_zeros); !s) return s;
  return check_elements("bias", bias, m.n);
}

result<nbits_factor> pack_weights(bind_context& c, const nbits_matrix& m) {
  const bool has_zeros = c.has_input(3);
  if (!c.prepack || !c.is_constant(1) || !c.is_constant(2) || (has_zeros && !c.is_constant(3))) return nbits_factor{};
  const value none{};
  const value& zeros = has_zeros ? *c.inputs[3].constant : none;
  if (status fits = check_weights(m, *c.inputs[1].constant, *c.inputs[2].constant, zeros, none); !fits) return fits;
  return pack_panels(c, m, nbits_form{m, zeros.type});
}
result<nbits_factor> pack_weights(run_context& c, const nbits_matrix& m) {
  return pack_panels(c, m, nbits_form{m, c.has_input(3) ? c.input(3).type : dtype::undefined});
}

void dequantize(run_context& c, const nbits_matrix& m, const value& b, const value& scales, const value& zeros,
                const std::int32_t* groups, float* to) {
  const auto* const codes = static_cast<const std::uint8_t*>(b.data);
  const std::int64_t bytes = m.blocks() * m.block_bytes(), middle = std::int64_t{1} << (m.bits - 1);
  parallel_each(c, m.n, 1 + (1 << 14) / m.k, [&](std::int64_t j, std::size_t) {
    for (std::int64_t i = 0; i < m.k; ++i) {
      const std::int64_t block = groups ? groups[i] : i / m.block;
      const int code = packed_code(codes + j * bytes, i, m.bits);
      const float zero = !zeros                    ? float(middle)
                         : zeros.type == dtype::u8 ? float(zero_code(m, zeros, j, block))
                                                   : float_at<float>(zeros, j * m.blocks() + block);
      to[j * m.k + i] = (float(code) - zero) * float_at<float>(scales, j * m.blocks() + block);
    }
  });
}

}  // namespace CAMEO_NAMESPACE::eps
