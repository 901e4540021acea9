#include <cameo/eps/cpu.hpp>
#include <cameo/eps/cpu/detail/gemm.hpp>

#include "cells/integer_cells.hpp"

namespace cameo::inline CAMEO_ABI::eps {

/// Raise the number when the layout of anything that a kernel packs (bind_context::pack) changes.
std::string cpu::packing() {
  return "packing 7 for " + std::string{instruction_set()} + " and " + std::string{best_integer_cells().panels};
}

}  // namespace cameo::inline CAMEO_ABI::eps
