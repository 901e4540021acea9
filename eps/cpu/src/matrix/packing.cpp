#include <cameo/eps/cpu.hpp>
#include <cameo/eps/cpu/detail/gemm.hpp>

namespace cameo::inline CAMEO_ABI::eps {

/// Raise the number when the layout of anything that a kernel packs (bind_context::pack) changes.
std::string cpu::packing() { return "packing 2 for " + std::string{instruction_set()}; }

}  // namespace cameo::inline CAMEO_ABI::eps
