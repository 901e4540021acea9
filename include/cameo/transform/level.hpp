#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>

CAMEO_BEGIN_NAMESPACE

/// How far a graph is rewritten before it runs, with ONNX Runtime's names; each level includes those before it.
///   none      as written, but for what every level does (quantized models: a DequantizeLinear for each reader)
///   basic     standard operators only, before providers choose their nodes
///   extended  fused operators (com.microsoft), among the nodes of a provider that lists them
///   layout    memory layouts of a provider's own
///   all       cleaning up after those
/// Numbers are ONNX Runtime's; a level may be given as a number.
enum class optimization_level : std::uint8_t { none, basic, extended, layout, all = 99 };

namespace detail {
/// False for a number that is none of the levels.
constexpr bool is_level(optimization_level level) {
  return level <= optimization_level::layout || level == optimization_level::all;
}
}  // namespace detail

CAMEO_END_NAMESPACE
