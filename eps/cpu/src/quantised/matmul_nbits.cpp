// MatMulNBits: rows of floats or bytes by panels of few bits.
#include <cameo/eps/cpu/detail/gemm.hpp>
#include <cameo/eps/cpu/matmul_nbits.hpp>

#include "common/float_values.hpp"
#include "common/refuse.hpp"
#include "nbits_rows.hpp"
#include "nbits_weights.hpp"
#include "product_cut.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

/// Rows of A in the form that lines read.
struct nbits_rows_of_a {
  const void* data;
  std::int64_t row_bytes;
  const nbits_scale* scales;
};

/// Floats where they lie, or widened, and with zeros after them that fill up the last block.
result<nbits_rows_of_a> float_rows(run_context& c, const nbits_matrix& b, const value& a, std::int64_t m) {
  const std::int64_t depth = b.depth(), bytes = depth * std::int64_t(sizeof(float));
  if (depth == b.k && a.type == dtype::f32) return nbits_rows_of_a{a.data, bytes, nullptr};
  std::int64_t count = 0;
  if (!checked_multiply(m, depth, count)) return status_code::out_of_memory;
  const result<std::span<float>> room = c.scratch<float>(std::size_t(count));
  if (!room) return room.error();
  parallel_each(c, m, 1 + (1 << 16) / depth, [&](std::int64_t i, std::size_t) {
    float* const to = room->data() + i * depth;
    load_floats(a, i * b.k, to, b.k);
    std::fill(to + b.k, to + depth, 0.0f);
  });
  return nbits_rows_of_a{room->data(), bytes, nullptr};
}
result<nbits_rows_of_a> byte_rows(run_context& c, const nbits_matrix& b, const value& a, std::int64_t m) {
  const std::int64_t depth = b.depth(), blocks = b.blocks();
  std::int64_t count = 0;
  if (!checked_multiply(m, depth, count)) return status_code::out_of_memory;
  const result<std::span<std::int8_t>> room = c.scratch<std::int8_t>(std::size_t(count));
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
          quantise_block(x + first, std::min(b.block, b.k - first), b.block, b.bits, room->data() + i * depth + first);
    }
  });
  return nbits_rows_of_a{room->data(), depth, scales->data()};
}

/// y [m, n], from panels.
status multiply_panels(run_context& c, const nbits_matrix& b, const nbits_factor& factor, const nbits_rows_of_a& a,
                       std::int64_t m, const float* bias, float* y) {
  const nbits_cells& by = best_integer_cells().few_bits;
  const auto run_line = (a.scales ? by.bytes : by.floats)[nbits_index(b.bits)];
  const std::int64_t panels = by.panels_of(b.n), blocks = b.blocks(), depth = b.depth();
  const std::int64_t panel_bytes = depth * b.bits / 8 * by.columns, parameters = blocks * by.columns;
  const product_cut cut{{m, a.row_bytes, by.tile_rows, panels, double(m) * double(b.k) * double(b.n)}, c.lanes()};
  const auto task = [&](std::size_t unit, std::size_t) {
    const std::int64_t row = std::int64_t(unit) / cut.panel_blocks * cut.rows;
    const std::int64_t first = std::int64_t(unit) % cut.panel_blocks * cut.panels;
    detail::stop_pace pace;
    for (std::int64_t p = first; p < std::min(panels, first + cut.panels); ++p) {
      if (p > first && c.stopped(pace)) return;
      nbits_line line{};
      line.rows = std::min(cut.rows, m - row), line.columns = std::min(by.columns, b.n - p * by.columns);
      line.blocks = blocks, line.block = b.block;
      line.a = static_cast<const std::byte*>(a.data) + row * a.row_bytes, line.row_step = depth;
      if (a.scales) line.a_scales = a.scales + row * blocks;
      line.codes = factor.codes + p * panel_bytes, line.scales = factor.scales + p * parameters;
      if (factor.zeros) line.zeros = factor.zeros + p * parameters;
      if (factor.float_zeros) line.float_zeros = factor.float_zeros + p * parameters;
      if (bias) line.bias = bias + p * by.columns;
      line.y = y + row * b.n + p * by.columns, line.step = b.n;
      run_line(line);
    }
  };
  if (cut.tasks() == 1) task(0, 0);
  else c.parallel_lanes(std::size_t(cut.tasks()), task);
  return {};
}

/// The bias as floats, with zeros for the columns that fill up a panel; null: there is none.
result<const float*> read_bias(run_context& c, const value& bias, std::int64_t width) {
  if (!bias) return static_cast<const float*>(nullptr);
  const result<std::span<float>> room = c.scratch<float>(std::size_t(width));
  if (!room) return room.error();
  convert_floats(bias.type, bias.data, room->data(), bias.shape.count());
  std::fill(room->begin() + bias.shape.count(), room->end(), 0.0f);
  return static_cast<const float*>(room->data());
}

/// y [m, n] where rows of B have their scales by `groups`.
status multiply_grouped(run_context& c, const nbits_matrix& b, const value& groups, const value& a, std::int64_t m,
                        float* y) {
  const tensor_view<const std::int32_t> of = groups.as_unchecked<std::int32_t>();
  if (of.count() != b.k && of.count() != b.depth())
    return bad_input("g_idx has shape ", groups.shape, "; it must have ", b.k, " elements");
  for (std::int64_t i = 0; i < b.k; ++i)
    if (of[i] < 0 || of[i] >= b.blocks())
      return bad_input("g_idx is ", of[i], " for row ", i, " of B, which has ", b.blocks(), " blocks");
  const result<std::span<float>> room = c.scratch<float>(std::size_t(b.k * b.n));
  const result<const float*> bias = read_bias(c, c.input(5), b.n);
  const result<nbits_rows_of_a> rows = float_rows(c, b, a, m);
  if (!room || !bias || !rows) return status_code::out_of_memory;
  dequantise(c, b, c.input(1), c.input(2), c.input(3), of.data(), room->data());
  gemm_problem<float> p{
      m, b.n, b.k, {static_cast<const float*>(rows->data), b.depth(), 1}, {room->data(), 1, b.k}, nullptr, y};
  if (*bias) p.epilogue.bias = *bias, p.epilogue.bias_column_stride = 1;
  return multiply(c, p);
}

/// y [m, n] of all rows of A.
status multiply_rows(run_context& c, const nbits_matrix& b, const nbits_factor& packed, bool as_bytes, const value& a,
                     float* y) {
  const std::int64_t m = a.shape.count() / b.k;
  if (c.has_input(4)) return multiply_grouped(c, b, c.input(4), a, m, y);
  const result<nbits_factor> factor = packed.codes ? result<nbits_factor>{packed} : pack_weights(c, b);
  const nbits_cells& by = best_integer_cells().few_bits;
  const result<const float*> bias = read_bias(c, c.input(5), by.panels_of(b.n) * by.columns);
  if (!factor || !bias) return status_code::out_of_memory;
  const result<nbits_rows_of_a> rows = as_bytes ? byte_rows(c, b, a, m) : float_rows(c, b, a, m);
  if (!rows) return rows.error();
  return multiply_panels(c, b, *factor, *rows, m, *bias, y);
}

}  // namespace

result<matmul_nbits> matmul_nbits::bind(bind_context& c) {
  matmul_nbits made{c.int_or("K", 0), c.int_or("N", 0), c.int_or("bits", 4), c.int_or("block_size", 0),
                    c.int_or("accuracy_level", 0) == 4};
  const nbits_matrix matrix{made.k, made.n, made.bits, made.block};
  if (status fits = check_matrix(matrix); !fits) return fits;
  if (const std::int64_t form = c.int_or("weight_prepacked", 0); form != 0)
    return bad_attribute("weight_prepacked is ", form, "; B must be as MatMulNBits defines it, which is 0");
  if (const std::int64_t level = c.int_or("accuracy_level", 0); level < 0 || level > 4)
    return bad_attribute("accuracy_level is ", level, "; it must be 0 to 4");
  if (c.has_input(4)) return made;
  const result<nbits_factor> packed = pack_weights(c, matrix);
  if (!packed) return packed.error();
  made.b = *packed;
  return made;
}

status matmul_nbits::run(run_context& c) const {
  const value& a = c.input(0);
  const nbits_matrix matrix{k, n, bits, block};
  if (a.shape.rank() == 0 || a.shape.back() != k)
    return bad_input("A has shape ", a.shape, "; its last axis must have K = ", k, " elements");
  extents shape = a.shape;
  shape[shape.rank() - 1] = n;
  const result<value*> made = c.output(0, shape);
  if (!made || (*made)->shape.count() == 0) return made ? status{} : made.error();
  const value none{};
  const status fits = b.codes ? check_weights(matrix, none, none, none, c.input(5))
                              : check_weights(matrix, c.input(1), c.input(2), c.input(3), c.input(5));
  if (!fits) return fits;
  value& y = **made;
  if (y.type == dtype::f32) return multiply_rows(c, matrix, b, as_bytes, a, static_cast<float*>(y.data));
  const result<std::span<float>> room = c.scratch<float>(std::size_t(y.shape.count()));
  if (!room) return room.error();
  if (status s = multiply_rows(c, matrix, b, as_bytes, a, room->data()); !s) return s;
  store_floats(c, room->data(), y.type, y.data, y.shape.count());
  return {};
}

}  // namespace cameo::inline CAMEO_ABI::eps
