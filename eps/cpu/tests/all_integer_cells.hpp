#pragma once
#include <vector>

#include "../src/microkernels/integer_cells.hpp"

namespace cameo::test {

/// Tables that only tests have, of instruction sets that run here: each is put here before main() by the file that has
/// it.
inline std::vector<const eps::integer_cells*>& more_integer_cells() {
  static std::vector<const eps::integer_cells*> all;
  return all;
}

/// Those and all that runs here.
inline std::vector<const eps::integer_cells*> all_integer_cells() {
  const auto here = eps::runnable_integer_cells();
  std::vector<const eps::integer_cells*> made{here.begin(), here.end()};
  made.insert(made.end(), more_integer_cells().begin(), more_integer_cells().end());
  return made;
}

}  // namespace cameo::test
