#pragma once
#include <cameo/core/abi.hpp>

#include <cstddef>

namespace CAMEO_NAMESPACE {

/// Limits of the memory and nesting that a hostile file may cause.
struct load_limits {
  std::size_t graph_depth = 128;                   // of subgraphs; more than 500 are never read
  std::size_t model_bytes = std::size_t{1} << 33;  // for texts, attributes and constants outside mapped files
};

}  // namespace CAMEO_NAMESPACE
