#pragma once
#include <cameo/eps/cpu/detail/activation.hpp>

#include <cstdint>

#include "machine/instruction_sets.hpp"

namespace CAMEO_NAMESPACE::eps {

// Products of floats that are rounded to bfloat16, with sums in float. Only sessions with the option ep.cpu.math=bf16
// use them, as results differ from those of float.
//
// A dot-product group ("cell" in names) is two bfloat16 that one instruction multiplies by two of a column and adds to
// one sum: 32 bits, with the first in the lower half. Each sum is one chain of additions, so its bits do not depend on
// what else is computed.

/// The number of groups of a row that are contiguous in x, followed by those of the next row (a block). So a tile needs
/// a single pointer to x: with a separate address for each row, gcc would keep them in vector registers, and reading
/// them from there would have to wait for the products before.
inline constexpr std::int64_t bf16_block = 8;

/// The arguments of one call of the micro-kernel: rows of outputs, for up to three vectors of 16 columns.
struct bf16_line {
  std::int64_t rows, tile_rows;        // rows; rows of a tile, from bf16_loops::tile_rows()
  const std::uint32_t* x;              // for each tile: [blocks][rows][up to 8 groups]
  std::int64_t tile_step, block_step;  // groups of x from one tile, and one block, to the next
  std::int64_t cells;                  // groups of a row and a tap
  const std::int64_t* taps;            // groups from a row's start to each of its taps (positions of the window)
  std::int64_t tap_count;
  std::int64_t w_first, w_taps;  // taps of the weights: the number before the first of `taps`, and the total
  const std::uint32_t* w;        // [blocks][w_taps][up to 8 groups][vectors * 16]
  std::int64_t vectors, lanes;   // vectors of outputs, and lanes of the last one that exist
  bool fills;                    // the other lanes of the last vector are stored too, as 0
  const char* ahead;             // weights that are needed soon, which are prefetched into the L2 cache; or null
  std::int64_t ahead_lines;      // cache lines of them to prefetch for each block of a tap
  float* y;
  std::int64_t y_row, y_vector;  // elements from one row, and one vector, to the next

  // y = f(alpha * sum + beta * bias + add), bounded by low and high.
  float alpha, beta;
  const float* bias;                   // null: none
  std::int64_t bias_row, bias_column;  // elements from row to row; 1, or 0 where all columns have the same
  const float* add;                    // null: none. Its columns are laid out as those of y
  std::int64_t add_row, add_vector;
  float low, high;
  const activation* f;  // an activation that is applied at last, or null
};

/// The loops of one instruction set.
struct bf16_loops {
  std::int64_t most_rows, most_rows_of_three;  // rows of a tile of up to two vectors, and of three
  void (*line)(const bf16_line&);
  /// Rounds `count` floats to bfloat16, to nearest, ties to even; subnormal results become 0. Each 16 floats, which
  /// begin `step` apart, become a block of groups, and blocks begin `to_step` apart. An odd last number is paired with
  /// 0.
  void (*narrow)(const float* from, std::int64_t step, std::int64_t count, std::uint32_t* to, std::int64_t to_step);

  /// The number of rows of a tile, if `rows` rows are partitioned into as few tiles as possible of about equal height:
  /// lines of images are often a little longer than a tile.
  std::int64_t tile_rows(std::int64_t rows, std::int64_t vectors) const {
    const std::int64_t most = vectors == 3 ? most_rows_of_three : most_rows, tiles = (rows + most - 1) / most;
    return (rows + tiles - 1) / tiles;
  }
};
inline constexpr std::int64_t bf16_lanes = 16;

}  // namespace CAMEO_NAMESPACE::eps
