#pragma once
#include <cameo/kernel/run_context.hpp>

#include <algorithm>
#include <limits>

CAMEO_BEGIN_NAMESPACE
namespace eps {

/// What a product by panels is made of.
struct product_size {
  std::int64_t m, row_bytes, tile_rows;  // rows of A
  std::int64_t panels;                   // of B
  double work;                           // multiplications
  std::int64_t row_cache = 1 << 18;      // bytes of rows that stay near
  std::int64_t at_once = 1 << 22;        // multiplications that take a few hundred microseconds at most
};

/// How C is cut into tasks, where what a task computes does not depend on the cut: so threads may decide.
struct product_cut {
  std::int64_t rows, panels;  // of a task
  std::int64_t row_blocks, panel_blocks;
  product_cut(const product_size& p, std::size_t lanes) : panels{p.panels} {
    const std::int64_t least_work = p.at_once / 4;  // products worth a thread
    const std::int64_t tiles = (p.m + p.tile_rows - 1) / p.tile_rows;
    std::int64_t row_tiles =
        std::clamp<std::int64_t>(p.row_cache / (std::max<std::int64_t>(1, p.row_bytes) * p.tile_rows), 1, tiles);
    const double wanted = lanes == 1 ? 1 : std::min(4.0 * double(lanes), p.work / double(least_work));
    const auto tasks = [&] {
      return double((tiles + row_tiles - 1) / row_tiles) * double((p.panels + panels - 1) / panels);
    };
    while (tasks() < wanted) {
      if (row_tiles > 4 || (panels == 1 && row_tiles > 1)) row_tiles = (row_tiles + 1) / 2;
      else if (panels > 1) panels = (panels + 1) / 2;
      else break;
    }
    rows = row_tiles * p.tile_rows;
    row_blocks = (p.m + rows - 1) / rows, panel_blocks = (p.panels + panels - 1) / panels;
  }
  std::int64_t tasks() const { return row_blocks * panel_blocks; }
};

/// The taps of a product: one, where a row begins.
inline constexpr std::int64_t no_tap[] = {0};

/// Rows [row, row + rows) of one of several products of one size, by one panel, on a lane.
struct product_line {
  std::int64_t product, row, rows, panel;
  std::size_t lane;
};
/// Rows between two questions whether the run should end: whole tiles, or `some` where that is less. `work`:
/// multiplications of one row and one panel.
inline std::int64_t rows_between_questions(const product_size& p, std::int64_t work,
                                           std::int64_t some = std::numeric_limits<std::int64_t>::max()) {
  const std::int64_t rows = p.at_once / std::max<std::int64_t>(1, work);
  return std::min(some, std::max(p.tile_rows, rows / p.tile_rows * p.tile_rows));
}
/// f(product_line) for all rows and panels of so many products, `some` rows at a time.
template <class F>
void each_product_line(run_context& c, const product_size& p, std::int64_t products, std::int64_t some, const F& f) {
  const product_cut cut{p, c.lanes()};
  const auto task = [&](std::size_t unit, std::size_t lane) {
    const std::int64_t product = std::int64_t(unit) / cut.tasks(), part = std::int64_t(unit) % cut.tasks();
    const std::int64_t r0 = part / cut.panel_blocks * cut.rows, r1 = std::min(p.m, r0 + cut.rows);
    const std::int64_t first = part % cut.panel_blocks * cut.panels, end = std::min(p.panels, first + cut.panels);
    // About as many at a time, in whole tiles: a few that are left would take as long as a tile.
    const std::int64_t times = (r1 - r0 + some - 1) / some, tiles = (r1 - r0 + p.tile_rows - 1) / p.tile_rows;
    const std::int64_t rows = (tiles + times - 1) / times * p.tile_rows;
    detail::stop_pace pace;
    for (std::int64_t panel = first; panel < end; ++panel)
      for (std::int64_t r = r0; r < r1; r += rows) {
        if ((panel > first || r > r0) && c.stopped(pace)) return;
        f(product_line{product, r, std::min(rows, r1 - r), panel, lane});
      }
  };
  const auto tasks = std::size_t(products * cut.tasks());
  if (tasks == 1) task(0, 0);
  else c.parallel_lanes(tasks, task);
}

}  // namespace eps
CAMEO_END_NAMESPACE
