#pragma once
#include <vector>

#include "../src/machine/instruction_sets.hpp"

namespace cameo::test {

/// Additional instruction sets that only tests have; each file adds its rows before main() if this processor runs them.
inline std::vector<const eps::instruction_set*>& more_instruction_sets() {
  static std::vector<const eps::instruction_set*> all;
  return all;
}

/// All instruction sets that run here, including those of tests, for which the loops behind `member` exist.
template <class Loops>
std::vector<const eps::instruction_set*> all_with(Loops eps::instruction_set::* member) {
  std::vector<const eps::instruction_set*> made;
  for (const eps::instruction_set* each : eps::runnable_instruction_sets())
    if (each->*member) made.push_back(each);
  for (const eps::instruction_set* each : more_instruction_sets())
    if (each->*member) made.push_back(each);
  return made;
}

}  // namespace cameo::test
