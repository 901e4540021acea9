#pragma once
#include <cameo/session/options.hpp>

#include <string>
#include <vector>

namespace cameo::program {

/// A folder with a model and test_data_set_* folders.
struct test_case {
  std::string name;  // path relative to the folder that was searched; for that folder itself, its name
  std::string folder;
};

/// Every test folder in `folder`, itself included, sorted by name. NO_SUCHFILE if `folder` does not exist.
result<std::vector<test_case>> find_cases(const std::string& folder);

enum class case_status : std::uint8_t { pass, fail, skip };

struct case_result {
  case_status status = case_status::pass;
  std::string op;            // operator of the node that failed, or that computes the output that differs
  std::string reason;        // why the case failed or was skipped
  double largest_error = 0;  // the largest error of all outputs
  std::uint64_t hash = 0;    // hash of all outputs of all data sets; 0 if the model did not run
};

/// Loads the case's model and runs all its data sets. Every error makes the case a failure, with the reason.
case_result run_case(const test_case&, const session_options&);

}  // namespace cameo::program
