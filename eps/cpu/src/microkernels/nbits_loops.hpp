#pragma once

#include <cstddef>
#include <cstdint>

#include "machine/instruction_sets.hpp"

namespace CAMEO_NAMESPACE::eps {

// Products of rows of A and weights of 2, 4 or 8 bits, of which blocks of consecutive ones in a column share a scale.
//
// A panel is consecutive columns of weights. A group is 32 bits of a column, with the quantized weights of 16, 8 or 4
// consecutive rows, the first in the lowest bits, as in MatMulNBits. A panel's layout is [block][group][column].
// Weights are widened in registers, so that no more than the packed weights is read from memory; the rows of a tile
// share what was widened. The value of a weight is its scale times the difference of the quantized value and a zero
// point, or times an entry of a codebook (the 4-bit floats of MatMulBnb4).

/// The scale of a block of a row that is quantized to int8, and the sum of its quantized values.
struct nbits_scale {
  float scale;
  std::int32_t sum;
};

/// The arguments of one call of a micro-kernel: rows of A times the columns of one panel.
struct nbits_line {
  std::int64_t rows;            // at least 1
  std::int64_t columns;         // columns of the panel that exist
  std::int64_t blocks, block;   // blocks of a row, and elements of a block: a power of two, at least 16
  const void* a;                // first row: float, or int8 of at least -127 in the order of cell_place()
  std::int64_t row_step;        // elements from one row to the next
  const nbits_scale* a_scales;  // the scales of rows of int8, [row][blocks]

  const std::byte* codes;  // the panel
  const float* scales;     // [blocks][columns of a panel]
  // Zero points, [blocks][columns of a panel], of one type. If both are null, they are 2 to the power of bits - 1.
  const std::uint8_t* zeros;
  const float* float_zeros;
  const float* book;  // the codebook of 16 numbers that replaces zero points, or null
  const float* bias;  // [columns of a panel], or null

  float* y;
  std::int64_t step;  // elements from one row of y to the next
};

/// The micro-kernels of one instruction set.
///
/// A sum of floats is formed in the order of k, block by block: the sum of a block starts at 0, is multiplied by its
/// scale and added to the total. Sums of int8 are exact within a block. So results have the same bits on every
/// instruction set with fused multiply-add, and do not depend on other rows.
struct nbits_loops {
  std::int64_t columns;                  // columns of a panel
  std::int64_t tile_rows;                // rows of a tile
  void (*floats[3])(const nbits_line&);  // rows of floats by weights of 2, 4 and 8 bits (see nbits_index)
  void (*bytes[3])(const nbits_line&);   // rows of int8 by weights of 2, 4 and 8 bits
  void (*book)(const nbits_line&);       // rows of floats by weights of 4 bits with a codebook

  std::int64_t panels_of(std::int64_t n) const { return (n + columns - 1) / columns; }
};
constexpr int nbits_index(std::int64_t bits) { return bits == 2 ? 0 : bits == 4 ? 1 : 2; }

/// The index in a row of element i of a block of int8. A dot-product group has the four elements whose weights are in
/// the same bits of the four bytes of a group of weights.
constexpr std::int64_t cell_place(std::int64_t i, std::int64_t bits) {
  const std::int64_t group = 32 / bits, in_byte = 8 / bits;
  return i / group * group + i % in_byte * 4 + i % group / in_byte;
}

}  // namespace CAMEO_NAMESPACE::eps
