#pragma once
#include <cameo/op/op.hpp>

CAMEO_BEGIN_NAMESPACE

/// What an operator does with the numbers of one of its inputs: what they may be depends on it. For whoever makes up
/// inputs for a model.
enum class operand_use : std::uint8_t {
  none,
  carried,    // elements of the output are these
  shifted,    // the same with the other input added
  unshifted,  // the same with the other input subtracted
  index,      // each counts from 0 along an axis of the input `of`
  below,      // each counts from 0 to below the value of the input `of`
  tuple,      // its last axis holds an index for each of the first axes of `of`, after attribute `axis` of them
  length,     // each is a length along an axis of `of`, of at least 1
  zeros,      // where nothing is known, only zeros fit everywhere: paddings, first elements
  ones,       // the same for ones: masks, repetitions, steps, divisors
  ends,       // past the end of any axis
  places,     // names of axes, none of them twice
  form,       // a shape that other elements must fit
};

/// A row of the table: one input of one operator.
struct operand_row {
  detail::op_id op;
  std::uint8_t input;
  operand_use use;
  std::uint8_t of = 0;         // another input of the node
  std::string_view axis = {};  // name of an attribute; empty: always `otherwise`
  std::int64_t otherwise = 0;  // the axis where that attribute is absent
};

/// What is done with the input at this position of a node of an operator.
operand_row use_of_operand(const op_row&, std::size_t input);

CAMEO_END_NAMESPACE
