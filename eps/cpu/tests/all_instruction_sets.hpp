#pragma once
#include <vector>

#include "../src/machine/instruction_sets.hpp"

namespace cameo::test {

/// Rows that only tests have, of instruction sets that run here: each is added before main() by the file that has it.
inline std::vector<const eps::instruction_set*>& more_instruction_sets() {
  static std::vector<const eps::instruction_set*> all;
  return all;
}

/// Those and all that run here, as far as they have the loops that a member points to.
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
