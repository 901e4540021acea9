#pragma once
#include <cameo/core/abi.hpp>

CAMEO_BEGIN_NAMESPACE
namespace os {

// What a processor has that only the system can say or permit. The target tier includes this header, too: where there
// is no system that src/os knows, the processor has none of it.

#ifdef __linux__
/// Requests AMX's tiles for all threads of this process. False where the system refuses: an instruction that uses them
/// then ends the process.
bool request_amx_tiles();
/// Products of four bytes each of 64-bit ARM (SDOT and UDOT), and of matrices of bytes (SMMLA).
bool has_arm_dot_products();
bool has_arm_matrix_products();
#else
inline bool request_amx_tiles() { return false; }
inline bool has_arm_dot_products() { return false; }
inline bool has_arm_matrix_products() { return false; }
#endif

}  // namespace os
CAMEO_END_NAMESPACE
