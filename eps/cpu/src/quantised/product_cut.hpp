#pragma once
#include <cameo/core/abi.hpp>

#include <algorithm>
#include <cstdint>

namespace cameo::inline CAMEO_ABI::eps {

/// What a product by panels is made of.
struct product_size {
  std::int64_t m, row_bytes, tile_rows;  // rows of A
  std::int64_t panels;                   // of B
  double work;                           // multiplications
};

/// How C is cut into tasks, where what a task computes does not depend on the cut: so threads may decide.
struct product_cut {
  std::int64_t rows, panels;  // of a task
  std::int64_t row_blocks, panel_blocks;
  product_cut(const product_size& p, std::size_t lanes) : panels{p.panels} {
    constexpr std::int64_t cached = 1 << 17, least_work = 1 << 20;  // bytes of rows; products worth a thread
    const std::int64_t tiles = (p.m + p.tile_rows - 1) / p.tile_rows;
    std::int64_t row_tiles =
        std::clamp<std::int64_t>(cached / (std::max<std::int64_t>(1, p.row_bytes) * p.tile_rows), 1, tiles);
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

}  // namespace cameo::inline CAMEO_ABI::eps
