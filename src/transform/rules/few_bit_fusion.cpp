// Fuses a constant of few bits, DequantizeLinear and a product into MatMulNBits, whose quantized values are ordered by
// column.
#include <cameo/op/microsoft.hpp>
#include <cameo/transform/rules/fusions.hpp>
#include <cameo/transform/transform.hpp>

#include "core/config_keys.hpp"
#include "transform/rules/look.hpp"

#include <bit>
#include <cstring>

namespace CAMEO_NAMESPACE {
namespace {

/// The block size of quantized values with one scale for each column or for all.
constexpr std::int64_t usual_block = 32;

/// Reads elements of a constant of 2, 4 or 8 bits, shifted to [0, 2^bits) if they are signed.
struct quantized_values {
  const std::byte* data;
  std::int64_t bits;
  bool is_signed;

  explicit quantized_values(const value& v)
      : data{static_cast<const std::byte*>(v.data)},
        bits{std::int64_t(bits_of(v.type))},
        is_signed{v.type == dtype::i2 || v.type == dtype::i4 || v.type == dtype::i8} {}
  std::uint8_t middle() const { return std::uint8_t(1 << (bits - 1)); }
  std::uint8_t operator[](std::int64_t i) const {
    const auto code = std::uint8_t(std::to_integer<int>(data[i * bits / 8]) >> i * bits % 8 & ((1 << bits) - 1));
    return is_signed ? code ^ middle() : code;
  }
};
bool is_few_bits(dtype t) {
  constexpr dtype all[] = {dtype::u2, dtype::i2, dtype::u4, dtype::i4, dtype::u8, dtype::i8};
  return std::find(std::begin(all), std::end(all), t) != std::end(all);
}

/// A dequantized constant B [k, n], and where the scale and zero point of a block of a column are.
struct few_bit_factor {
  const value *b = nullptr, *scale = nullptr, *zero = nullptr;  // null zero point: 0
  std::int64_t k = 0, n = 0, block = usual_block;
  std::int64_t block_step = 0, column_step = 0;  // in elements of scales

  std::int64_t blocks() const { return (k + block - 1) / block; }
  std::int64_t at(std::int64_t column, std::int64_t number) const { return column * column_step + number * block_step; }
};

/// Reads scales of blocks of rows, of columns, or of the whole tensor.
bool read_scales(const node_view& dq, few_bit_factor& f) {
  const extents& shape = f.scale->shape;
  const auto given = dq.attributes<op::DequantizeLinear>();
  std::int64_t axis = given.axis;
  if (const std::int64_t block = given.block_size; block != 0) {
    if (block < 16 || block > (1 << 15) || !std::has_single_bit(std::uint64_t(block))) return false;
    f.block = block, f.block_step = f.n, f.column_step = 1;
    return normalize_axis(axis, 2) && axis == 0 && shape == extents{f.blocks(), f.n};
  }
  if (shape.rank() > 1) return false;
  if (shape.count() == 1) return true;
  f.column_step = 1;
  return normalize_axis(axis, 2) && axis == 1 && shape.count() == f.n;
}

/// True if the constants are a matrix of few bits, its scales, and zero points of the same type, if any.
bool are_constants_of_factor(const few_bit_factor& f) {
  if (!f.b || !f.scale || !is_few_bits(f.b->type) || f.b->shape.rank() != 2) return false;
  if (f.b->memory != 0 || f.scale->memory != 0) return false;
  return !f.zero ||
         (f.zero->memory == 0 && f.zero->type == f.b->type && f.zero->shape.count() == f.scale->shape.count());
}

std::optional<few_bit_factor> factor_of(const rewriter& r, const node_view& product) {
  const node_view dq = look::made_by<op::DequantizeLinear>(r, product.input(1));
  if (!dq || !dq.output(0).sole_use()) return {};
  few_bit_factor f{r.constant(dq.input(0)), r.constant(dq.input(1)), r.constant(dq.input(2))};
  if ((dq.input(2) && !f.zero) || !are_constants_of_factor(f)) return {};
  const value_view x = product.input(0);
  if (!look::is_float(x) || x.element() != f.scale->type || dq.output(0).element() != x.element()) return {};
  // Products of two quantized factors are computed on integers.
  if (bits_of(f.b->type) == 8 && look::made_by<op::DequantizeLinear>(r, x)) return {};
  f.k = f.b->shape[0], f.n = f.b->shape[1];
  if (f.k < 1 || f.n < 1 || !read_scales(dq, f)) return {};
  return f;
}

/// B's quantized values as [n][blocks][bytes of a block]; rows that pad the last block are 0.
std::vector<std::uint8_t> values_by_columns(const few_bit_factor& f) {
  const quantized_values source{*f.b};
  const std::int64_t column_bytes = f.blocks() * f.block * source.bits / 8;
  std::vector<std::uint8_t> made(std::size_t(f.n * column_bytes), 0);
  for (std::int64_t i = 0; i < f.k; ++i)
    for (std::int64_t j = 0; j < f.n; ++j)
      made[std::size_t(j * column_bytes + i * source.bits / 8)] |=
          std::uint8_t(source[i * f.n + j] << i * source.bits % 8);
  return made;
}
/// The scales as [n * blocks].
std::vector<std::byte> scales_by_columns(const few_bit_factor& f) {
  const std::size_t size = bits_of(f.scale->type) / 8;
  std::vector<std::byte> made(std::size_t(f.n * f.blocks()) * size);
  for (std::int64_t j = 0, to = 0; j < f.n; ++j)
    for (std::int64_t b = 0; b < f.blocks(); ++b, ++to)
      std::memcpy(made.data() + std::size_t(to) * size,
                  static_cast<const std::byte*>(f.scale->data) + std::size_t(f.at(j, b)) * size, size);
  return made;
}
/// Zero points packed as [n][bytes of a column]; empty if all are MatMulNBits' default.
std::vector<std::uint8_t> zeros_by_columns(const few_bit_factor& f) {
  const quantized_values source{f.zero ? *f.zero : *f.b};
  const std::int64_t column_bytes = (f.blocks() * source.bits + 7) / 8;
  std::vector<std::uint8_t> made(std::size_t(f.n * column_bytes), 0);
  bool all_middle = true;
  for (std::int64_t j = 0; j < f.n; ++j)
    for (std::int64_t b = 0; b < f.blocks(); ++b) {
      const std::uint8_t zero = f.zero ? source[f.at(j, b)] : source.is_signed ? source.middle() : std::uint8_t(0);
      all_middle = all_middle && zero == source.middle();
      made[std::size_t(j * column_bytes + b * source.bits / 8)] |= std::uint8_t(zero << b * source.bits % 8);
    }
  if (all_middle) made.clear();
  return made;
}

/// True if a Gemm is a product with at most a bias for each column.
bool is_plain(const rewriter& r, const node_view& n, std::int64_t columns) {
  const auto a = n.attributes<op::Gemm>();
  if (a.transA != 0 || a.transB != 0 || a.alpha != 1) return false;
  if (!n.input(2)) return true;
  const std::vector<dim>* const bias = r.shape(n.input(2));
  return a.beta == 1 && bias && bias->size() == 1 && (*bias)[0].known() && (*bias)[0].size == columns;
}

template <int Level>
struct few_bit_product {
  static constexpr std::string_view name = "DQMatMulNBitsFusion";
  using roots = op_set<op::MatMul, op::Gemm>;
  using needs = op_set<op::DequantizeLinear>;
  using makes = op_set<op::microsoft::MatMulNBits>;

  static bool rewrite(rewriter& r, const node_view& n) {
    const std::optional<few_bit_factor> f = factor_of(r, n);
    if (!f || (n.has_op<op::Gemm>() && !is_plain(r, n, f->n))) return false;
    const std::int64_t bits = std::int64_t(bits_of(f->b->type));
    const std::vector<attribute> attributes{attribute_of("K", f->k), attribute_of("N", f->n),
                                            attribute_of("bits", bits), attribute_of("block_size", f->block),
                                            attribute_of("accuracy_level", Level)};
    edit e{r, n};
    std::vector<value_id> inputs(6, value_id::none);
    inputs[0] = n.input(0).id();
    inputs[1] = e.constant(
        "codes", value::tensor<std::uint8_t>({f->n, f->blocks(), f->block * bits / 8}, values_by_columns(*f)));
    std::vector<std::byte> scales = scales_by_columns(*f);
    inputs[2] = e.constant("scales", value::tensor(f->scale->type, extents{f->n * f->blocks()}, scales.data()));
    if (const std::vector<std::uint8_t> zeros = zeros_by_columns(*f); !zeros.empty())
      inputs[3] = e.constant("zero_points", value::tensor<std::uint8_t>({std::int64_t(zeros.size())}, zeros));
    if (n.has_op<op::Gemm>() && n.input(2)) inputs[5] = n.input(2).id();
    while (inputs.back() == value_id::none) inputs.pop_back();
    e.replace(n.output(0), e.add<op::microsoft::MatMulNBits>(inputs, attributes));
    return e.commit();
  }
};

constexpr key_condition stays_quantized[] = {{config_key<"session.disable_quant_qdq">.key}};
constexpr key_condition accuracy_of_bytes[] = {{config_key<"session.qdq_matmulnbits_accuracy_level">.key, "4"}};
// These run before constants that stay quantized for groups are folded.
constexpr transform_condition floats_wanted{.phase = transform_phase::at_level_and_after_groups,
                                            .excluded = stays_quantized};
constexpr transform_condition bytes_wanted{
    .phase = transform_phase::at_level_and_after_groups, .required = accuracy_of_bytes, .excluded = stays_quantized};

}  // namespace

const transform_table& rules::few_bit_fusion::table() {
  return transform_list<optimization_level::extended, few_bit_product<4>>::table<bytes_wanted>();
}
const transform_table& rules::few_bit_float_fusion::table() {
  return transform_list<optimization_level::extended, few_bit_product<0>>::table<floats_wanted>();
}

}  // namespace CAMEO_NAMESPACE
