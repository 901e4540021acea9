#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>

namespace CAMEO_NAMESPACE {

/// How far a graph is rewritten before it runs. Names and numbers are ONNX Runtime's; each level includes those before
/// it.
///   none      as written, except for rewrites of every level (such as a DequantizeLinear for each reader)
///   basic     standard operators only, before providers choose their nodes
///   extended  fused operators (com.microsoft), in the nodes of a provider that lists them
///   layout    a provider's own memory layouts
///   all       cleaning up after those
enum class optimization_level : std::uint8_t { none, basic, extended, layout, all = 99 };

namespace detail {
/// False for a number that is not a level.
constexpr bool is_level(optimization_level level) {
  return level <= optimization_level::layout || level == optimization_level::all;
}
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
