#pragma once
#include "op/operand_use.hpp"
#include "program/inputs.hpp"

namespace cameo::program {

/// What the numbers of an input can be so that the model runs: indices inside what they index, masks that hide
/// nothing. Found by following the input through the graph to the operators that say (op/operand_use.hpp), and for
/// masks by the input's name, because graphs compute with masks in too many ways.
struct wanted_numbers {
  std::int64_t low = 0, high = 3;  // both may be; of integers that nothing is known about, so small that loops end
  bool known = false;              // something says so
  operand_use pattern = operand_use::none;  // places (0, 1, 2...) and form (-1, then ones) are no ranges
};

/// The size of a dim: its own, or that of its symbol in `sizes`, or 1.
std::int64_t size_of(dim, const model&, const dim_sizes& sizes);

wanted_numbers wanted_of(const session&, const io_info& input, const dim_sizes& sizes);

}  // namespace cameo::program
