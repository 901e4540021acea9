#pragma once
#include <algorithm>
#include <limits>

#include "machine/work_split.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The sizes of a product of rows of A and panels of B (see integer_panels.hpp), of any element type.
struct product_size {
  std::int64_t rows, row_bytes, tile_rows;  // rows of A, bytes of each, and rows of a register tile
  std::int64_t panels;                      // panels of B
  double cost;                              // multiplications
  std::int64_t products = 1;                // the number of products of this size
  std::int64_t row_cache = 1 << 18;         // bytes of rows that stay in the L2 cache beside a panel
  std::int64_t at_once = 1 << 22;           // multiplications that take a few hundred microseconds at most

  /// Splits C among workers, in tiles of rows and panels. Rows are split first, because panels are larger.
  work_split split(std::size_t workers) const {
    const std::int64_t tiles = (rows + tile_rows - 1) / tile_rows;
    const std::int64_t near = row_cache / (std::max<std::int64_t>(1, row_bytes) * tile_rows);
    work_size size{.repeats = products, .cost = cost, .least_cost = double(at_once) / 4};
    size.outer = {tiles, std::clamp<std::int64_t>(near, 1, tiles), 3};
    size.inner.units = size.inner.most = panels;
    return {size, workers};
  }
  /// The number of rows between two stop checks: whole tiles, but at most `some`. `work`: the multiplications of one
  /// row and one panel.
  std::int64_t rows_per_stop_check(std::int64_t work,
                                   std::int64_t some = std::numeric_limits<std::int64_t>::max()) const {
    const std::int64_t count = at_once / std::max<std::int64_t>(1, work);
    return std::min(some, std::max(tile_rows, count / tile_rows * tile_rows));
  }
};

/// The taps (runs of elements that are multiplied) of a row of a matrix product: a single one at its beginning.
inline constexpr std::int64_t no_tap[] = {0};

/// Rows [row, row + rows) of one of several products and one panel, which worker `lane` multiplies.
struct product_line {
  std::int64_t product, row, rows, panel;
  std::size_t lane;
};
/// Calls f(product_line), on several workers, for all rows and panels, with about `some` rows at a time.
template <class F>
void each_product_line(run_context& c, const product_size& p, std::int64_t some, const F& f) {
  for_each_task(c, p.split(c.lanes()), [&](const work_task& task, std::size_t lane) {
    const std::int64_t first = task.outer * p.tile_rows, end = std::min(p.rows, first + task.outer_count * p.tile_rows);
    // Each call has about as many rows, in whole tiles: a few rows that are left would take as long as a tile.
    const std::int64_t times = (end - first + some - 1) / some, tiles = (end - first + p.tile_rows - 1) / p.tile_rows;
    const std::int64_t rows = (tiles + times - 1) / times * p.tile_rows;
    detail::stop_pace pace;
    for (std::int64_t panel = task.inner; panel < task.inner + task.inner_count; ++panel)
      for (std::int64_t row = first; row < end; row += rows) {
        if ((panel > task.inner || row > first) && c.stopped(pace)) return;
        f(product_line{task.repeat, row, std::min(rows, end - row), panel, lane});
      }
  });
}

}  // namespace CAMEO_NAMESPACE::eps
