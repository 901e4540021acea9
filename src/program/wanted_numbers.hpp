#pragma once
#include "op/operand_use.hpp"
#include "program/inputs.hpp"

namespace cameo::program {

/// The numbers that an input may have so that the model runs: indices within the range of what they index, masks that
/// hide nothing. They are found by following the input through the graph to operators that restrict their operands
/// (op/operand_use.hpp). Masks are recognized by the input's name, because models compute with masks in too many ways.
struct wanted_numbers {
  std::int64_t low = 0, high = 3;  // both inclusive; the default is small because the number may count iterations
  bool known = false;              // an operator or the input's name restricts the numbers
  operand_use pattern = operand_use::none;  // places (0, 1, 2...) or form (-1, then ones); none: low to high
};

/// The size of a dim if the model has it, else that of its symbol in `sizes`, else 1.
std::int64_t size_of(dim, const model&, const dim_sizes& sizes);

/// The numbers that a random input of the model may have. Cost: linear in the number of uses that are followed.
wanted_numbers wanted_of(const session&, const io_info& input, const dim_sizes& sizes);

}  // namespace cameo::program
