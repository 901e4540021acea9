// MatMulNBits: products of floats, or of floats that are quantized to int8, and weights of 2, 4 or 8 bits.
#include <cameo/eps/cpu/detail/float_product.hpp>
#include <cameo/eps/cpu/matmul_nbits.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include "operands/refuse.hpp"
#include "products/nbits_product.hpp"
#include "products/nbits_weights.hpp"
#include "skeletons/float_output.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Computes y [m, n] if `groups` (g_idx) assigns the rows of B to blocks: B is dequantized first.
status multiply_grouped(run_context& c, const nbits_matrix& b, const value& groups, const value& a, std::int64_t m,
                        float* y) {
  const tensor_view<const std::int32_t> of = groups.as_unchecked<std::int32_t>();
  if (of.count() != b.k && of.count() != b.depth()) return check_count("g_idx", of.count(), b.k);
  for (std::int64_t i = 0; i < b.k; ++i)
    if (status s = check_element("g_idx", of[i], 0, b.blocks() - 1); !s) return s;
  const result<std::span<float>> room = c.scratch<float>(std::size_t(b.k * b.n));
  const result<const float*> bias = padded_bias(c, c.input(5), b.n);
  const result<nbits_rows_of_a> rows = few_bit_rows(c, b, a, m);
  if (!room || !bias || !rows) return status_code::out_of_memory;
  dequantize(c, b, c.input(1), c.input(2), c.input(3), of.data(), room->data());
  gemm_problem<float> p{
      m, b.n, b.k, {static_cast<const float*>(rows->data), b.depth(), 1}, {room->data(), 1, b.k}, nullptr, y};
  if (*bias) p.epilogue.bias = *bias, p.epilogue.bias_column_stride = 1;
  return multiply(c, p);
}

/// Computes y [m, n] for all rows of A.
status multiply_rows(run_context& c, const nbits_matrix& b, const nbits_factor& packed, bool as_bytes, const value& a,
                     float* y) {
  const std::int64_t m = a.shape.count() / b.k;
  if (c.has_input(4)) return multiply_grouped(c, b, c.input(4), a, m, y);
  const result<nbits_factor> factor = packed.codes ? result<nbits_factor>{packed} : pack_weights(c, b);
  const result<const float*> bias = padded_bias(c, c.input(5), width_of_panels(b.n));
  if (!factor || !bias) return status_code::out_of_memory;
  return multiply_few_bits(c, b, *factor, {a, m, as_bytes}, *bias, y);
}

}  // namespace

result<matmul_nbits> matmul_nbits::bind(bind_context& c) {
  const attributes_of<op::microsoft::MatMulNBits> a{c.attributes};
  matmul_nbits made{a.K, a.N, a.bits, a.block_size, a.accuracy_level == 4};
  const nbits_matrix matrix{made.k, made.n, made.bits, made.block};
  if (status fits = check_matrix(matrix); !fits) return fits;
  if (a.weight_prepacked != 0)
    return bad_attribute("weight_prepacked is ", a.weight_prepacked, ", must be 0: B as MatMulNBits defines it");
  if (c.has_input(4)) return made;
  const result<nbits_factor> packed = pack_weights(c, matrix);
  if (!packed) return packed.error();
  made.b = *packed;
  return made;
}

status matmul_nbits::run(run_context& c) const {
  const value& a = c.input(0);
  const nbits_matrix matrix{k, n, bits, block};
  extents shape = a.shape;
  shape[shape.rank() - 1] = n;
  const auto y = float_output<float>::make(c, 0, shape);
  if (!y || shape.count() == 0) return y ? status{} : y.error();
  const value none{};
  const status fits = b.codes ? check_weights(matrix, none, none, none, c.input(5))
                              : check_weights(matrix, c.input(1), c.input(2), c.input(3), c.input(5));
  if (!fits) return fits;
  if (status s = multiply_rows(c, matrix, b, as_bytes, a, y->data); !s) return s;
  y->store(c);
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
