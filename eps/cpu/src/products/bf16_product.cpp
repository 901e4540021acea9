#include "bf16_product.hpp"

#include "machine/parallel_rows.hpp"
#include "operands/scratch_of.hpp"
#include "product_lines.hpp"

#include <limits>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The layout of all A's in dot-product groups (see bf16_loops.hpp), one A after the other:
/// [tiles][blocks][rows of a tile][8 groups].
struct cell_rows {
  std::int64_t tile, blocks, a_tiles;  // rows of a tile, blocks of a row, tiles of one A
  cell_rows(const bf16_product& p, const bf16_loops& by)
      : tile{by.tile_rows(p.m, 2)}, blocks{(p.k + bf16_lanes - 1) / bf16_lanes}, a_tiles{(p.m + tile - 1) / tile} {}
  std::int64_t tile_step() const { return blocks * block_step(); }
  std::int64_t block_step() const { return tile * bf16_block; }
  std::int64_t at(std::int64_t product, std::int64_t row) const {
    return (product * a_tiles + row / tile) * tile_step() + row % tile * bf16_block;
  }
};

/// Rounds all A's to bfloat16, in scratch memory of the run.
result<const std::uint32_t*> cells_of(run_context& c, const bf16_product& p, const bf16_loops& by,
                                      const cell_rows& rows, std::int64_t products) {
  const auto made = scratch_of<std::uint32_t>(c, {products, rows.a_tiles, rows.blocks, rows.block_step()});
  if (!made) return made.error();
  const std::size_t gathered = p.a.column_stride == 1 && !p.a.narrow ? 0 : std::size_t(p.k);
  const result<std::span<float>> room = c.scratch<float>(gathered * c.lanes());
  if (!room) return room.error();
  constexpr std::int64_t at_once = 1 << 16;
  parallel_each(c, products * p.m, grain_of(at_once, (p.k + 1) / 2), [&](std::int64_t r, std::size_t lane) {
    const std::int64_t i = r / p.m, row = r % p.m;
    const matrix_ref<float, any_float> a = p.a.from(p.a_offsets.empty() ? 0 : p.a_offsets[std::size_t(i)]);
    const number_source<float, any_float> from = a.from(row, 0).elements();
    float* const numbers = room->data() + lane * gathered;
    if (gathered > 0) from.read(numbers, p.k, a.column_stride);
    by.narrow(gathered > 0 ? numbers : from.data, bf16_lanes, p.k, *made + rows.at(i, row), rows.block_step());
  });
  return static_cast<const std::uint32_t*>(*made);
}

/// The call of the micro-kernel for one panel, without its rows, which the caller sets.
bf16_line line_of(const bf16_product& p, const cell_rows& rows, std::int64_t panel) {
  const std::int64_t cells = (p.k + 1) / 2, column = panel * bf16_panel;
  const std::int64_t columns = std::min(bf16_panel, p.n - column);
  bf16_line line{};
  line.tile_rows = rows.tile, line.tile_step = rows.tile_step(), line.block_step = rows.block_step();
  line.cells = cells;
  line.taps = no_tap, line.tap_count = line.w_taps = 1;
  line.w = p.b + column * cells;
  line.vectors = columns > bf16_lanes ? 2 : 1, line.lanes = columns - (line.vectors - 1) * bf16_lanes;
  line.y_row = p.n, line.y_vector = line.add_vector = bf16_lanes;
  line.alpha = p.epilogue.alpha, line.beta = p.epilogue.beta;
  line.bias_row = p.epilogue.bias_row_stride, line.bias_column = p.epilogue.bias_column_stride;
  line.add_row = p.epilogue.add_row_stride;
  const activation& f = p.epilogue.f;
  const bool bounded = f.kind == activation_kind::bounds;
  line.low = bounded ? f.a : -std::numeric_limits<float>::infinity();
  line.high = bounded ? f.b : std::numeric_limits<float>::infinity();
  line.f = f.kind == activation_kind::stored ? &f : nullptr;
  return line;
}

}  // namespace

status multiply_bf16(run_context& c, const bf16_product& p) {
  const bf16_loops& by = *best_bf16_loops();
  const std::int64_t products = std::max<std::int64_t>(1, std::int64_t(p.a_offsets.size()));
  if (p.m == 0 || p.n == 0) return {};
  const cell_rows rows{p, by};
  const result<const std::uint32_t*> a = cells_of(c, p, by, rows, products);
  if (!a) return a.error();
  const std::int64_t cells = (p.k + 1) / 2, panels = (p.n + bf16_panel - 1) / bf16_panel;
  const double cost = double(products) * double(p.m) * double(p.n) * double(p.k) / 2;
  const product_size size{p.m, cells * 4, rows.tile, panels, cost, products};
  each_product_line(c, size, size.rows_per_stop_check(p.k * bf16_panel), [&](const product_line& part) {
    const std::int64_t row = part.product * p.m + part.row, column = part.panel * bf16_panel;
    bf16_line line = line_of(p, rows, part.panel);
    const gemm_epilogue<float> at = p.epilogue.at(part.row, column);
    line.x = *a + rows.at(part.product, part.row), line.rows = part.rows, line.y = p.c + row * p.n + column;
    line.bias = at.bias, line.add = at.add;
    by.line(line);
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
