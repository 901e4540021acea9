#pragma once
#include <cameo/core/abi.hpp>

namespace CAMEO_NAMESPACE::os {

// Processor features that only the system can report or permit. The target tier includes this header, too: on a system
// that src/os does not support, no feature is available.

#ifdef __linux__
/// Requests AMX's tiles for all threads of this process. False if the system refuses: an instruction that uses them
/// then ends the process.
bool request_amx_tiles();
/// Dot products of four bytes on 64-bit ARM (SDOT and UDOT), and products of matrices of bytes (SMMLA).
bool has_arm_dot_products();
bool has_arm_matrix_products();
#else
inline bool request_amx_tiles() { return false; }
inline bool has_arm_dot_products() { return false; }
inline bool has_arm_matrix_products() { return false; }
#endif

}  // namespace CAMEO_NAMESPACE::os
