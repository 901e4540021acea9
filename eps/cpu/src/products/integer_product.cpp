#include "integer_product.hpp"

#include <algorithm>

#include "machine/parallel_rows.hpp"
#include "operands/scratch_of.hpp"
#include "product_lines.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Rows of A in dot-product groups, as micro-kernels read them.
struct rows_of_cells {
  const std::byte* data;
  std::int64_t step;  // bytes from one row to the next
};

/// Converts row `r` of A to what the arithmetic multiplies: uint8, or int16 minus the zero point.
void convert_row(const integer_product& p, std::int64_t r, std::byte* to) {
  const std::uint8_t* from = p.a.data + r * p.row_stride;
  const std::int64_t numbers = p.b.cells() * p.b.arithmetic->per_cell;
  const auto each = [&](auto* out, const auto& number) {
    for (std::int64_t i = 0; i < p.k; ++i) out[i] = number(from[i * p.column_stride]);
    std::fill(out + p.k, out + numbers, 0);
  };
  if (p.b.arithmetic->per_cell == 4) {
    auto* const out = reinterpret_cast<std::uint8_t*>(to);
    if (p.column_stride != 1) {
      const std::uint8_t flip = p.a.is_signed ? 0x80 : 0;
      return each(out, [&](std::uint8_t code) { return std::uint8_t(code ^ flip); });
    }
    if (p.a.is_signed) shift_codes(from, p.k, out);
    else std::copy_n(from, p.k, out);
    return std::fill(out + p.k, out + numbers, std::uint8_t(0));
  }
  auto* const out = reinterpret_cast<std::int16_t*>(to);
  const std::int32_t zero = p.a.zero[r * p.a.zero_step];
  if (p.column_stride == 1) {
    widen_codes(from, p.a.is_signed, zero, p.k, out);
    return std::fill(out + p.k, out + numbers, std::int16_t(0));
  }
  each(out, [&](std::uint8_t code) { return std::int16_t((p.a.is_signed ? int(std::int8_t(code)) : code) - zero); });
}

/// A itself if the arithmetic can multiply its rows in place, else a converted copy in scratch memory.
result<rows_of_cells> rows_for(run_context& c, const integer_product& p) {
  const bool as_they_are = p.b.arithmetic->per_cell == 4 && !p.a.is_signed && p.column_stride == 1 && p.k % 4 == 0;
  if (as_they_are) return rows_of_cells{reinterpret_cast<const std::byte*>(p.a.data), p.row_stride};
  const std::int64_t step = p.b.cells() * 4;
  const auto made = scratch_of<std::byte>(c, {p.m, step});
  if (!made) return made.error();
  constexpr std::int64_t at_once = 1 << 16;
  parallel_each(c, p.m, grain_of(at_once, step),
                [&](std::int64_t r, std::size_t) { convert_row(p, r, *made + r * step); });
  return rows_of_cells{*made, step};
}

/// Calls f(line, first row, first column, worker), on several workers, for all rows and panels, with at most `some`
/// rows at a time. `line` has no outputs yet, which f sets.
template <class F>
status each_line(run_context& c, const integer_product& p, std::int64_t some, const F& f) {
  if (p.m == 0 || p.b.n == 0) return {};
  const result<rows_of_cells> rows = rows_for(c, p);
  if (!rows) return rows.error();
  panel_lists lists;
  if (status s = lists.prepare(c, p.b); !s) return s;
  const integer_arithmetic& by = *p.b.arithmetic;
  const double cost = double(p.m) * double(p.k) * double(p.b.n);
  const std::int64_t cells = p.b.cells(), step = p.b.panel_step();
  const std::byte* const panels = p.b.panel(0);
  const product_size size{p.m, cells * 4, by.tile_rows, by.panels_of(p.b.n), cost, 1, by.row_cache, by.at_once};
  each_product_line(c, size, size.rows_per_stop_check(p.k * by.columns, some), [&](const product_line& part) {
    const std::int64_t column = part.panel * by.columns;
    integer_line line{};
    line.x = rows->data + part.row * rows->step, line.row_step = rows->step;
    line.taps = no_tap, line.tap_count = 1, line.cells = cells, line.w = panels + part.panel * step;
    line.rows = line.stretch = part.rows, line.columns = std::min(by.columns, p.b.n - column);
    line.start = p.start + column;
    line.ahead = part.panel + 1 < size.panels ? step : 0;
    lists.put(line, part.lane);
    f(line, part.row, column, part.lane);
  });
  return {};
}

}  // namespace

status multiply_to_sums(run_context& c, const integer_product& p, detail::function_ref<void(const integer_block&)> f) {
  const std::int64_t some = 4 * p.b.arithmetic->tile_rows,
                     columns = p.b.arithmetic->columns;  // these sums stay in the L1 cache
  const result<std::span<std::int32_t>> room = c.scratch<std::int32_t>(std::size_t(some * columns) * c.lanes());
  if (!room) return room.error();
  return each_line(c, p, some, [&](integer_line& line, std::int64_t row, std::int64_t column, std::size_t lane) {
    line.sums = room->data() + std::int64_t(lane) * some * columns, line.step = columns;
    p.b.arithmetic->line(line);
    f(integer_block{row, column, line.rows, line.columns, line.sums, columns});
  });
}

status multiply_to_sums(run_context& c, const integer_product& p, std::int32_t* y) {
  return each_line(c, p, p.m, [&](integer_line& line, std::int64_t row, std::int64_t column, std::size_t) {
    line.sums = y + row * p.b.n + column, line.step = p.b.n;
    p.b.arithmetic->line(line);
  });
}

status multiply_to_floats(run_context& c, const integer_product& p, const float_form& form, float* y) {
  return each_line(c, p, p.m, [&](integer_line& line, std::int64_t row, std::int64_t column, std::size_t) {
    line.scale = form.scale + column, line.bias = form.bias + column;
    line.floats = y + row * p.b.n + column, line.step = p.b.n;
    p.b.arithmetic->line(line);
  });
}

status multiply_to_codes(run_context& c, const integer_product& p, const code_form& form, std::uint8_t* y) {
  return each_line(c, p, p.m, [&](integer_line& line, std::int64_t row, std::int64_t column, std::size_t) {
    line.scale = form.scale + column, line.low = form.low, line.high = form.high, line.zero = form.zero;
    line.codes = y + row * p.b.n + column, line.step = p.b.n;
    p.b.arithmetic->line(line);
  });
}

}  // namespace CAMEO_NAMESPACE::eps
