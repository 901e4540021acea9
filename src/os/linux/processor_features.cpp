#include "os/processor_features.hpp"

#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace CAMEO_NAMESPACE::os {

bool request_amx_tiles() {
#ifdef SYS_arch_prctl
  constexpr int request_permission = 0x1023, tile_data = 18;  // from <asm/prctl.h> and from the processor's manual
  return ::syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
  return false;
#endif
}

// The bits are numbers because old headers of the C library have no names for them.
#ifdef __aarch64__
bool has_arm_dot_products() { return (::getauxval(AT_HWCAP) >> 20 & 1) != 0; }      // HWCAP_ASIMDDP
bool has_arm_matrix_products() { return (::getauxval(AT_HWCAP2) >> 13 & 1) != 0; }  // HWCAP2_I8MM
#else
bool has_arm_dot_products() { return false; }
bool has_arm_matrix_products() { return false; }
#endif

}  // namespace CAMEO_NAMESPACE::os
