#include <cameo/eps/cpu.hpp>
#include <cameo/eps/cpu/detail/gemm_block.hpp>

#include "microkernels/integer_cells.hpp"

CAMEO_BEGIN_NAMESPACE
namespace eps {

/// Raise the number when the layout of anything that a kernel packs (bind_context::pack) changes.
std::string cpu::packing() {
  return "packing 7 for " + std::string{instruction_set()} + " and " + std::string{best_integer_cells().panels};
}

}  // namespace eps
CAMEO_END_NAMESPACE
