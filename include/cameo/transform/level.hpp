#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>

namespace cameo::inline CAMEO_ABI {

/// How far a graph may be rewritten before it runs, by ONNX Runtime's names; each level has those before it.
///   none      as written
///   basic     standard operators only, before providers choose their nodes
///   extended  fused operators (com.microsoft), among the nodes of a provider that asks for them
///   layout    memory layouts of a provider's own
///   all       what is to be cleaned up after those
/// Numbers are ONNX Runtime's, in which levels may come as such.
enum class optimization_level : std::uint8_t { none, basic, extended, layout, all = 99 };

/// False for a number that is none of the levels.
constexpr bool is_level(optimization_level level) {
  return level <= optimization_level::layout || level == optimization_level::all;
}

}  // namespace cameo::inline CAMEO_ABI
