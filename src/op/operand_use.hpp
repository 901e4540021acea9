#pragma once
#include <cameo/op/op.hpp>

namespace CAMEO_NAMESPACE {

/// What an operator does with the numbers of an input, which limits what they may be. The program makes up inputs for
/// models by it.
enum class operand_use : std::uint8_t {
  none,
  carried,    // the output contains these elements
  shifted,    // the output is these elements plus the other input
  unshifted,  // the output is these elements minus the other input
  index,      // indices from 0 along an axis of the input `other`
  below,      // numbers from 0 to below the value of the input `other`
  tuple,   // tuples of indices along the last axis, one for each of the first axes of `other` after attribute `axis` of
           // them
  length,  // lengths along an axis of `other`, at least 1
  zeros,   // zeros are always legal: paddings, first elements
  ones,    // ones are always legal: masks, repetitions, steps, divisors
  ends,    // ends of ranges, past the end of any axis
  places,  // distinct axes
  form,    // a shape, which must fit the elements of another input
};

/// A row of the table: one input of one operator.
struct operand_row {
  detail::op_id op;
  std::uint8_t input;
  operand_use use;
  std::uint8_t other = 0;      // the number of another input
  std::string_view axis = {};  // the name of an attribute; empty: always `otherwise`
  std::int64_t otherwise = 0;  // the axis where that attribute is absent
};

/// What an operator does with its input at this position.
operand_row use_of_operand(const op_row&, std::size_t input);

}  // namespace CAMEO_NAMESPACE
