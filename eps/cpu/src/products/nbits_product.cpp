// Products of rows of floats, or of rows that are quantized to int8, and weights of 2, 4 or 8 bits.
#include "nbits_product.hpp"

#include "integer_rows.hpp"
#include "operands/scratch_of.hpp"
#include "product_lines.hpp"
#include "skeletons/float_values.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {

result<nbits_rows_of_a> few_bit_rows(run_context& c, const nbits_matrix& b, const value& a, std::int64_t m) {
  const std::int64_t depth = b.depth(), bytes = depth * std::int64_t(sizeof(float));
  if (depth == b.k && a.type == dtype::f32) return nbits_rows_of_a{a.data, bytes, nullptr};
  const auto room = scratch_of<float>(c, {m, depth});
  if (!room) return room.error();
  parallel_each(c, m, 1 + (1 << 16) / depth, [&](std::int64_t i, std::size_t) {
    float* const to = *room + i * depth;
    load_floats(a, i * b.k, to, b.k);
    std::fill(to + b.k, to + depth, 0.0f);
  });
  return nbits_rows_of_a{*room, bytes, nullptr};
}

result<const float*> padded_bias(run_context& c, const value& bias, std::int64_t width) {
  if (!bias) return static_cast<const float*>(nullptr);
  const result<std::span<float>> room = c.scratch<float>(std::size_t(width));
  if (!room) return room.error();
  convert_floats(bias.type, bias.data, room->data(), bias.shape.count());
  std::fill(room->begin() + bias.shape.count(), room->end(), 0.0f);
  return static_cast<const float*>(room->data());
}

namespace {

/// Quantizes rows of A to int8, block by block, in scratch memory.
result<nbits_rows_of_a> byte_rows(run_context& c, const nbits_matrix& b, const value& a, std::int64_t m) {
  const std::int64_t depth = b.depth(), blocks = b.blocks();
  const auto room = scratch_of<std::int8_t>(c, {m, depth});
  const result<std::span<nbits_scale>> scales = c.scratch<nbits_scale>(std::size_t(m * blocks));
  const bool is_narrow = a.type != dtype::f32;
  const result<std::span<float>> wide = c.scratch<float>(is_narrow ? std::size_t(b.k) * c.lanes() : 0);
  if (!room || !scales || !wide) return status_code::out_of_memory;
  parallel_each(c, m, 1 + (1 << 15) / depth, [&](std::int64_t i, std::size_t lane) {
    float* const row = is_narrow ? wide->data() + std::int64_t(lane) * b.k : nullptr;
    if (row) load_floats(a, i * b.k, row, b.k);
    const float* const x = row ? row : static_cast<const float*>(a.data) + i * b.k;
    for (std::int64_t l = 0; l < blocks; ++l) {
      const std::int64_t first = l * b.block;
      (*scales)[std::size_t(i * blocks + l)] =
          quantize_block(x + first, std::min(b.block, b.k - first), b.block, b.bits, *room + i * depth + first);
    }
  });
  return nbits_rows_of_a{*room, depth, scales->data()};
}

/// Computes y [m, n] from converted rows of A and panels of B.
void multiply_few_bit_rows(run_context& c, const nbits_matrix& b, const nbits_factor& factor, const nbits_rows_of_a& a,
                           std::int64_t m, const float* bias, float* y) {
  const nbits_loops& by = best_nbits_loops();
  const auto run_line = factor.book ? by.book : (a.scales ? by.bytes : by.floats)[nbits_index(b.bits)];
  const std::int64_t panels = by.panels_of(b.n), blocks = b.blocks(), depth = b.depth();
  const std::int64_t panel_bytes = depth * b.bits / 8 * by.columns, parameters = blocks * by.columns;
  const product_size size{m, a.row_bytes, by.tile_rows, panels, double(m) * double(b.k) * double(b.n)};
  each_product_line(c, size, m, [&](const product_line& part) {
    const std::int64_t p = part.panel;
    nbits_line line{};
    line.rows = part.rows, line.columns = std::min(by.columns, b.n - p * by.columns);
    line.blocks = blocks, line.block = b.block;
    line.a = static_cast<const std::byte*>(a.data) + part.row * a.row_bytes, line.row_step = depth;
    if (a.scales) line.a_scales = a.scales + part.row * blocks;
    line.codes = factor.codes + p * panel_bytes, line.scales = factor.scales + p * parameters;
    if (factor.zeros) line.zeros = factor.zeros + p * parameters;
    if (factor.float_zeros) line.float_zeros = factor.float_zeros + p * parameters;
    line.book = factor.book;
    if (bias) line.bias = bias + p * by.columns;
    line.y = y + part.row * b.n + p * by.columns, line.step = b.n;
    run_line(line);
  });
}

}  // namespace

status multiply_few_bits(run_context& c, const nbits_matrix& b, const nbits_factor& factor, const few_bit_operand& a,
                         const float* bias, float* y) {
  const result<nbits_rows_of_a> rows =
      a.as_bytes ? byte_rows(c, b, a.rows, a.count) : few_bit_rows(c, b, a.rows, a.count);
  if (!rows) return rows.error();
  multiply_few_bit_rows(c, b, factor, *rows, a.count, bias, y);
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
