#pragma once
// The configuration of AMX tiles, for kernels and for measurements.
#include <cameo/core/abi.hpp>

#include <cstdint>

namespace CAMEO_NAMESPACE::eps {

/// The operand of ldtilecfg: the size of each of the processor's tiles. A tile with size 0 cannot be used.
struct alignas(64) tile_sizes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};

  /// Sets the size of a tile: `height` rows of `cells` groups of 4 bytes, at most 16 of both.
  void set(int tile, std::int64_t height, std::int64_t cells) {
    rows[tile] = std::uint8_t(height), row_bytes[tile] = std::uint16_t(4 * cells);
  }
};

}  // namespace CAMEO_NAMESPACE::eps
