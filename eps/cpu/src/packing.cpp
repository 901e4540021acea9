#include <cameo/eps/cpu.hpp>

#include "microkernels/integer_loops.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Raise the number whenever the layout of anything that a kernel packs (bind_context::pack) changes.
std::string cpu::packing() {
  return "packing 7 for " + std::string{instruction_set_in_use()} + " and " + std::string{best_integer_loops().panels};
}

}  // namespace CAMEO_NAMESPACE::eps
