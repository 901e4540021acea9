#pragma once
// AMX on Linux: what both sides of it, kernels and measurements, need.
#include <cameo/core/abi.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

CAMEO_BEGIN_NAMESPACE
namespace eps {

/// What ldtilecfg reads: the size of each of the processor's tiles. Those that have none can't be used.
struct alignas(64) tile_sizes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};

  /// Rows of so many cells of 4 bytes, at most 16 of both.
  void set(int tile, std::int64_t height, std::int64_t cells) {
    rows[tile] = std::uint8_t(height), row_bytes[tile] = std::uint16_t(4 * cells);
  }
};

/// Asks Linux for the tiles, for all threads of the process, which may use them only then.
inline bool may_use_tiles() {
  constexpr int request_permission = 0x1023, tile_data = 18;  // of <asm/prctl.h>, and of the processor's manual
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

}  // namespace eps
CAMEO_END_NAMESPACE
