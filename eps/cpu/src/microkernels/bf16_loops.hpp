#pragma once
#include <cameo/eps/cpu/detail/activation.hpp>

#include <cstdint>

#include "machine/instruction_sets.hpp"

namespace CAMEO_NAMESPACE::eps {

// Products of numbers that are rounded to bfloat16, with sums in float: for sessions with the option ep.cpu.math=bf16,
// as they are not those of float.
//
// A cell has two numbers that are multiplied by two of a column and added to one sum, 32 bits as in integer_loops.hpp;
// the first is the lower half. Each sum is one chain of additions, so it has the same bits whatever is computed beside.

/// Cells of a row that lie side by side in x, and the same of the next row behind them. Tiles need no more than one
/// pointer to x then: with a distance for each row, gcc would keep addresses in vector registers, from which they come
/// only after all products before.
inline constexpr std::int64_t bf16_block = 8;

/// Rows of outputs, for up to three vectors of 16 columns.
struct bf16_line {
  std::int64_t rows, tile_rows;        // tile_rows: of bf16_loops
  const std::uint32_t* x;              // of each tile [blocks][rows][up to 8 cells]
  std::int64_t tile_step, block_step;  // cells of x from one tile, and one block, to the next
  std::int64_t cells;                  // of a row and a tap
  const std::int64_t* taps;            // cells from a row's start to each of its taps
  std::int64_t tap_count;
  std::int64_t w_first, w_taps;  // taps of the weights: before the first of `taps`, and all
  const std::uint32_t* w;        // [blocks][w_taps][up to 8 cells][vectors * 16]
  std::int64_t vectors, lanes;   // vectors of outputs, and lanes of the last one that exist
  bool fills;                    // whether its other lanes are stored, as 0
  const char* ahead;             // null, or weights that are wanted soon: on the way into the second cache meanwhile,
  std::int64_t ahead_lines;      // cache lines of them for each block of a tap
  float* y;
  std::int64_t y_row, y_vector;  // elements from one row, and one vector, to the next

  // y = f(alpha * sum + beta * bias + add), bounded by low and high.
  float alpha, beta;
  const float* bias;                   // null: none
  std::int64_t bias_row, bias_column;  // elements from row to row; 1, or 0 where all columns have the same
  const float* add;                    // null: none. Columns lie as those of y do
  std::int64_t add_row, add_vector;
  float low, high;
  const activation* f;  // null, or what is done besides
};

/// The loops of one instruction set.
struct bf16_loops {
  std::int64_t most_rows, most_rows_of_three;  // of a tile of up to two vectors, and of three
  void (*line)(const bf16_line&);
  /// Sixteen numbers after the other, `step` apart, become blocks of cells, `to_step` apart: to nearest, ties to even;
  /// what would not be normal becomes 0. An odd last number is followed by 0 in its cell.
  void (*narrow)(const float* from, std::int64_t step, std::int64_t count, std::uint32_t* to, std::int64_t to_step);

  /// Rows of the tiles that so many rows are done in, as few as possible and about equally high: lines of images are
  /// often a little longer than a tile.
  std::int64_t tile_rows(std::int64_t rows, std::int64_t vectors) const {
    const std::int64_t most = vectors == 3 ? most_rows_of_three : most_rows, tiles = (rows + most - 1) / most;
    return (rows + tiles - 1) / tiles;
  }
};
inline constexpr std::int64_t bf16_lanes = 16;

}  // namespace CAMEO_NAMESPACE::eps
