#pragma once
#include "program/inputs.hpp"
#include "program/runnable.hpp"

namespace cameo::program {

/// Inputs of a run as the command line gives them.
struct given_inputs {
  std::vector<std::pair<std::string, std::string>> files;  // by name
  dim_sizes dims;                                          // of random ones
  bool random = false;                                     // for those that no file gives
  std::uint64_t seed = 0;
};

/// "--input NAME=FILE", "--seed N", "--dim NAME=N"; whether there are random ones is the command's own business.
void add_input_options(const command&, given_inputs&);

/// Read, or made. An input that may be left out, and that nothing gives, is.
result<std::vector<named_value>> gather_inputs(const runnable&, const given_inputs&);

}  // namespace cameo::program
