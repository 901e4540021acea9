#pragma once

#include <cstddef>
#include <cstdint>

#include "machine/instruction_sets.hpp"

namespace CAMEO_NAMESPACE::eps {

// Products of rows of numbers and weights of 2, 4 or 8 bits that share a scale in blocks.
//
// A panel holds some columns of weights. Of each column, 32 bits with the codes of 16, 8 or 4 neighbouring rows lie
// together, the first in the lowest bits, as MatMulNBits has them: [block][group of 32 bits][column]. Codes are widened
// in registers, so that memory gives no more than the packed weights; many rows share what was widened. What a code
// stands for is its difference to a zero point, or what a book says (the 4-bit floats of MatMulBnb4).

/// What a block of a row of bytes stands for: its numbers are code * scale. `sum` is that of its codes.
struct nbits_scale {
  float scale;
  std::int32_t sum;
};

/// Rows of A times the columns of one panel.
struct nbits_line {
  std::int64_t rows;            // at least 1
  std::int64_t columns;         // of the panel that exist
  std::int64_t blocks, block;   // blocks of a row, and numbers of a block: a power of two, at least 16
  const void* a;                // first row: float, or s8 of at least -127 in the order of cell_place()
  std::int64_t row_step;        // numbers from one row to the next
  const nbits_scale* a_scales;  // of s8, [row][blocks]

  const std::byte* codes;  // the panel
  const float* scales;     // [blocks][columns of a panel]
  // Zero points, [blocks][columns of a panel], of one kind; both are null for 2 to the power of bits - 1.
  const std::uint8_t* zeros;
  const float* float_zeros;
  const float* book;  // the 16 numbers that codes of 4 bits stand for where no zero point makes them numbers
  const float* bias;  // [columns of a panel], or null

  float* y;
  std::int64_t step;  // numbers from one row of y to the next
};

/// The loops of one instruction set, for 2, 4 and 8 bits.
///
/// A sum of floats is that of its blocks, each begun at 0 and multiplied by its scale, in the order of rows; sums of
/// codes are exact within a block. So results have the same bits on every instruction set that rounds a product and a
/// sum once, whatever other rows there are.
struct nbits_loops {
  std::int64_t columns;    // of a panel
  std::int64_t tile_rows;  // that a line is cut into
  void (*floats[3])(const nbits_line&);
  void (*bytes[3])(const nbits_line&);
  void (*book)(const nbits_line&);  // rows of floats by codes of 4 bits that stand in a book

  std::int64_t panels_of(std::int64_t n) const { return (n + columns - 1) / columns; }
};
constexpr int nbits_index(std::int64_t bits) { return bits == 2 ? 0 : bits == 4 ? 1 : 2; }

/// Where number i of a block of s8 lies in its row: a cell has the four numbers whose codes are at the same place of
/// the four bytes of a group.
constexpr std::int64_t cell_place(std::int64_t i, std::int64_t bits) {
  const std::int64_t group = 32 / bits, in_byte = 8 / bits;
  return i / group * group + i % in_byte * 4 + i % group / in_byte;
}

}  // namespace CAMEO_NAMESPACE::eps
