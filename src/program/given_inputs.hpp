#pragma once
#include "program/inputs.hpp"
#include "program/runnable.hpp"
#include "program/tensor_files.hpp"

namespace cameo::program {

/// The options of the command line about inputs.
struct given_inputs {
  /// "NAME=..." of --input, --fill or --range. It is split only when the model is loaded, because NAME may contain '='.
  struct pair {
    std::string text;
    element_source::kind how;  // list: a file, or values with commas between them
  };
  std::vector<pair> pairs;
  dim_sizes dims;       // sizes of the symbolic dims of inputs that are generated
  bool random = false;  // true: inputs that no option gives are random
  std::uint64_t seed = 0;
  picture_scaling pictures;
};

/// Adds the options --input, --fill, --range, --seed, --dim, --scale, --mean and --deviation, but not --random-inputs:
/// the commands have different defaults for it.
void add_input_options(const command&, given_inputs&);

/// The receiver of inputs: one session, or all sessions of a package's components.
struct input_taker {
  const std::vector<io_info>& inputs;
  std::vector<const session*> parts;

  input_taker(const session& one) : inputs{one.inputs()}, parts{&one} {}
  input_taker(const runnable& of) : inputs{of.inputs()} {
    for (std::size_t i = 0; i < of.size(); ++i) parts.push_back(&of.part(i));
  }
};

/// The value of an input, with its origin for display: a file with the scaling of pixels, "random", "fill" ...
struct gathered_input {
  std::string name;
  any_value value;
  std::string origin;
};

/// Reads or generates the inputs. Optional inputs that no option gives are left out; other missing ones are random if
/// `random` is set, else INVALID_ARGUMENT.
result<std::vector<gathered_input>> gather_inputs(const input_taker&, const given_inputs&);

/// Prints to standard error how pixels of pictures were converted to numbers.
void report_pictures(const std::vector<gathered_input>&);

}  // namespace cameo::program
