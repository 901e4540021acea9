#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>

namespace CAMEO_NAMESPACE::eps {

/// The bind_context::choice of a node that multiplies in bfloat16: see the option `math` of cpu.
inline constexpr std::uint32_t cpu_math_is_bf16 = 1;

}  // namespace CAMEO_NAMESPACE::eps
