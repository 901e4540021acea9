#pragma once
#include "program/inputs.hpp"
#include "program/runnable.hpp"
#include "program/tensor_files.hpp"

namespace cameo::program {

/// Inputs of a run as the command line gives them.
struct given_inputs {
  /// "NAME=..." of --input, --fill or --range: names may hold a '=', too, so a model says which one parts them.
  struct pair {
    std::string text;
    element_source::kind how;  // list: a file, or values with commas between them
  };
  std::vector<pair> pairs;
  dim_sizes dims;       // of random ones
  bool random = false;  // for those that nothing else gives
  std::uint64_t seed = 0;
  picture_scaling pictures;
};

/// "--input NAME=FILE" or "NAME=VALUE,...", "--fill NAME=VALUE", "--range NAME=LO:HI", "--seed N", "--dim NAME=N",
/// "--scale", "--mean", "--deviation"; whether there are random ones is the command's own business.
void add_input_options(const command&, given_inputs&);

/// What inputs are for: a session, or a package's components as one.
struct input_taker {
  const std::vector<io_info>& inputs;
  std::vector<const session*> parts;

  input_taker(const session& one) : inputs{one.inputs()}, parts{&one} {}
  input_taker(const runnable& of) : inputs{of.inputs()} {
    for (std::size_t i = 0; i < of.size(); ++i) parts.push_back(&of.part(i));
  }
};

/// An input, and where it comes from, in words.
struct gathered_input {
  std::string name;
  any_value value;
  std::string from;
};

/// Read, or made. An input that may be left out, and that nothing gives, is.
result<std::vector<gathered_input>> gather_inputs(const input_taker&, const given_inputs&);

/// Says on standard error how pictures became numbers.
void tell_of_pictures(const std::vector<gathered_input>&);

}  // namespace cameo::program
