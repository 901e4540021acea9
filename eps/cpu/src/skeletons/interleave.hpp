#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>

namespace CAMEO_NAMESPACE::eps {

/// to[i * runs + r] = from[r * step + i] for i < count and 3 or 4 runs: planes of colors become pixels.
void interleave_bytes(const std::uint8_t* from, std::int64_t step, std::int64_t runs, std::int64_t count,
                      std::uint8_t* to);

}  // namespace CAMEO_NAMESPACE::eps
