#include <cameo/eps/cpu/detail/float_product.hpp>
#include <cameo/eps/cpu/matmul_fp4.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include <algorithm>
#include <cstring>

#include "operands/operand_values.hpp"
#include "products/nbits_panels.hpp"
#include "products/nbits_product.hpp"
#include "skeletons/float_output.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The codebook of FP4 (bitsandbytes): the lower three bits select the magnitude, and the fourth is the sign.
constexpr float fp4_values[16] = {0,     0.0052083333f,  0.66666667f,  1,  0.33333333f,  0.5f,  0.16666667f,  0.25f,
                                  -0.0f, -0.0052083333f, -0.66666667f, -1, -0.33333333f, -0.5f, -0.16666667f, -0.25f};
/// The codebook of NF4 (bitsandbytes): quantiles of a normal distribution, scaled to [-1, 1], with 0 among them.
constexpr float nf4_values[16] = {-1.0f,         -0.69619280f, -0.52507305f, -0.39491749f, -0.28444138f, -0.18477343f,
                                  -0.091050036f, 0.0f,         0.079580300f, 0.16093020f,  0.24611230f,  0.33791524f,
                                  0.44070983f,   0.56261700f,  0.72295684f,  1.0f};

/// Makes the output Y [..., n] = A [..., k] * B: calls multiply_rows(number of rows, y) to compute it as float.
template <class F>
status fill_output(run_context& c, std::int64_t k, std::int64_t n, const F& multiply_rows) {
  const value& a = c.input(0);
  extents shape = a.shape;
  shape[shape.rank() - 1] = n;
  const auto y = float_output<float>::make(c, 0, shape);
  if (!y) return y.error();
  if (shape.count() == 0) return {};
  if (status done = multiply_rows(a.shape.count() / k, y->data); !done) return done;
  y->store(c);
  return {};
}
status multiply_output(run_context& c, const nbits_matrix& m, const nbits_factor& factor) {
  return fill_output(c, m.k, m.n, [&](std::int64_t rows, float* y) {
    return multiply_few_bits(c, m, factor, {c.input(0), rows}, nullptr, y);
  });
}

/// The layout of MatMulBnb4, for pack_panels(): the values of a column are contiguous, the first in the upper bits of a
/// byte; blocks that share a scale are counted through all of B, not from the beginning of a column.
struct bnb4_form {
  static constexpr std::size_t codes = 1, scales = 2;
  const nbits_matrix& m;
  std::int64_t block;

  std::uint32_t group(const value& from, std::int64_t j, std::int64_t g) const {
    std::uint32_t bits = 0;
    std::memcpy(&bits, static_cast<const std::uint8_t*>(from.data) + j * m.k / 2 + g * 4, sizeof bits);
    return (bits & 0x0F0F0F0F) << 4 | (bits >> 4 & 0x0F0F0F0F);
  }
  float scale(const value& from, std::int64_t j, std::int64_t b) const {
    return float_at<float>(from, (j * m.k + b * m.block) / block);
  }
};

/// The layout of MatMulFpQ4, for pack_panels(): the blocks of a column one after the other, each of which is a scale, a
/// zero point if there are any, and 16 bytes with 32 values.
struct fpq4_form {
  static constexpr std::size_t codes = 1, scales = 1, zeros = 1;
  const nbits_matrix& m;
  dtype zero_type;

  std::int64_t head() const { return zero_type == dtype::u8 ? 5 : 4; }
  const std::uint8_t* at(const value& from, std::int64_t j, std::int64_t b) const {
    return static_cast<const std::uint8_t*>(from.data) + (j * m.blocks() + b) * (head() + 16);
  }
  /// The lower 4 bits of the bytes are rows 0 to 15 of a block, and the upper 4 bits are the others.
  std::uint32_t group(const value& from, std::int64_t j, std::int64_t g) const {
    const std::uint8_t* const bytes = at(from, j, g / 4) + head() + g % 2 * 8;
    std::uint32_t bits = 0;
    for (int i = 0; i < 8; ++i) bits |= std::uint32_t(bytes[i] >> (g % 4 < 2 ? 0 : 4) & 15) << 4 * i;
    return bits;
  }
  float scale(const value& from, std::int64_t j, std::int64_t b) const {
    float of = 0;
    std::memcpy(&of, at(from, j, b), sizeof of);
    return of;
  }
  std::uint8_t zero(const value& from, std::int64_t j, std::int64_t b) const { return at(from, j, b)[4]; }
};

/// The sizes for packing B as panels; their `block` is 0 if that is impossible, as scales don't belong to blocks of a
/// column.
nbits_matrix panels_of_bnb4(const matmul_bnb4& p) {
  const std::int64_t shared = std::min({p.block, p.k & -p.k, std::int64_t{1} << 15});  // a power of two
  return {p.k, p.n, 4, p.transposed && shared >= 16 ? shared : 0};
}

}  // namespace

result<matmul_bnb4> matmul_bnb4::bind(bind_context& c) {
  const attributes_of<op::microsoft::MatMulBnb4> a{c.attributes};
  matmul_bnb4 made{a.K, a.N, a.block_size, a.quant_type == 0 ? fp4_values : nf4_values, a.transB != 0};
  std::int64_t count = 0;
  if (status s = check_power_of_two("block_size", made.block, 16); !s) return s;
  const bool fit = checked_multiply(made.k, made.n, count) && checked_add(count, made.block, count);
  if (status s = check_fits("B", fit); !s) return s;
  const nbits_matrix m = panels_of_bnb4(made);
  if (!m.block || !c.prepack || !c.is_constant(1) || !c.is_constant(2)) return made;
  if (status fits = made.check_parts(c.inputs[1].constant->shape, c.inputs[2].constant->shape); !fits) return fits;
  const result<nbits_factor> packed = pack_panels(c, m, bnb4_form{m, made.block});
  if (!packed) return packed.error();
  made.b = *packed, made.b.book = made.values;
  return made;
}

status matmul_bnb4::check_parts(const extents& codes, const extents& absmax) const {
  const std::int64_t count = k * n;
  if (status s = check_count("B", codes.count(), (count + 1) / 2); !s) return s;
  return check_count("absmax", absmax.count(), (count - 1) / block + 1);
}

status matmul_bnb4::run(run_context& c) const {
  const value &a = c.input(0), &codes = c.input(1), &absmax = c.input(2);
  if (status s = check_count("the last axis of A", a.shape.back(), transposed ? k : n); !s) return s;
  if (status fits = check_parts(codes.shape, absmax.shape); !fits) return fits;
  if (const nbits_matrix m = panels_of_bnb4(*this); m.block) {
    if (b.codes) return multiply_output(c, m, b);
    result<nbits_factor> packed = pack_panels(c, m, bnb4_form{m, block});
    if (!packed) return packed.error();
    packed->book = values;
    return multiply_output(c, m, *packed);
  }
  const std::int64_t count = k * n;
  const result<std::span<float>> wide = c.scratch<float>(std::size_t(count));
  const auto scales = wide_vector<float>(c, absmax), rows = wide_vector<float>(c, a);
  if (!wide || !scales || !rows) return status_code::out_of_memory;
  const std::uint8_t* const from = static_cast<const std::uint8_t*>(codes.data);
  parallel_elements(c, count, 1 << 14, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      (*wide)[std::size_t(i)] = values[i % 2 ? from[i / 2] & 15 : from[i / 2] >> 4] * (*scales)[i / block];
  });
  if (c.stopped()) return status_code::canceled;
  const std::int64_t depth = transposed ? k : n, columns = transposed ? n : k;
  const matrix_ref<float> factor{wide->data(), transposed ? 1 : k, transposed ? k : 1};
  return fill_output(c, depth, columns, [&](std::int64_t m, float* y) {
    return multiply(c, gemm_problem<float>{m, columns, depth, {*rows, depth, 1}, factor, nullptr, y});
  });
}

namespace {

/// Reads the sizes of B from MatMulFpQ4's third input [2], and checks the number of its bytes.
status read_fpq4(const value& sizes, const extents& codes, bool has_zeros, nbits_matrix& out) {
  out = {integers{sizes}[0], integers{sizes}[1], 4, 32};
  constexpr std::int64_t most = std::int64_t{1} << 40;
  for (const std::int64_t each : {out.k, out.n})
    if (status s = check_element("B_shape", each, 1, most); !s) return s;
  std::int64_t size = 0, count = 0;
  const bool fits =
      checked_multiply(out.blocks(), out.n, count) && checked_multiply(count, has_zeros ? std::int64_t{21} : 20, size);
  if (status s = check_fits("B", fits); !s) return s;
  return check_count("B", codes.count(), size);
}

}  // namespace

result<matmul_fpq4> matmul_fpq4::bind(bind_context& c) {
  matmul_fpq4 made{attributes_of<op::microsoft::MatMulFpQ4>{c.attributes}.blk_quant_type != 0};
  const value* const sizes = c.constant(2);
  if (!c.prepack || !c.is_constant(1) || !sizes || sizes->shape != extents{2}) return made;
  nbits_matrix m{};
  if (status fits = read_fpq4(*sizes, c.inputs[1].constant->shape, made.has_zeros, m); !fits) return fits;
  const result<nbits_factor> packed = pack_panels(c, m, fpq4_form{m, made.has_zeros ? dtype::u8 : dtype::undefined});
  if (!packed) return packed.error();
  made.b = *packed;
  return made;
}

status matmul_fpq4::run(run_context& c) const {
  nbits_matrix m{};
  if (status fits = read_fpq4(c.input(2), c.input(1).shape, has_zeros, m); !fits) return fits;
  if (status s = check_count("the last axis of A", c.input(0).shape.back(), m.k); !s) return s;
  if (b.codes) return multiply_output(c, m, b);
  const result<nbits_factor> packed = pack_panels(c, m, fpq4_form{m, has_zeros ? dtype::u8 : dtype::undefined});
  return packed ? multiply_output(c, m, *packed) : packed.error();
}

}  // namespace CAMEO_NAMESPACE::eps
