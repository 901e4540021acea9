#pragma once
#include <cameo/session/options.hpp>

#include <string>
#include <vector>

namespace cameo::program {

/// A folder with a model and test_data_set_* folders.
struct test_case {
  std::string name;  // path below the folder that was asked for; the folder's own name for itself
  std::string folder;
};

/// Every test folder below `folder` and itself, sorted by name. NO_SUCHFILE when there is no such folder.
result<std::vector<test_case>> find_cases(const std::string& folder);

enum class case_status : std::uint8_t { pass, fail, skip };

struct case_result {
  case_status status = case_status::pass;
  std::string op;            // of the node that failed, or that makes the output that differs
  std::string reason;        // of a failure or a skip
  double largest_error = 0;  // of all outputs
  std::uint64_t hash = 0;    // of all outputs of all its data sets; 0 where it does not run
};

/// Loads the case's model and runs all its data sets. Everything that can go wrong is a failure with its reason.
case_result run_case(const test_case&, const session_options&);

}  // namespace cameo::program
