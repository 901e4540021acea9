#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>

namespace CAMEO_NAMESPACE {

/// A dimension before a run: a number, a symbol of the model ("batch"), or unknown. Symbols are numbered from 1 by the
/// model's symbol_table; equal symbols are equal sizes.
struct dim {
  std::int64_t size = -1;
  std::uint32_t symbol = 0;

  /// A dimension of known size.
  static constexpr dim fixed(std::int64_t size) { return {size, 0}; }
  /// A dimension that is a symbol, given by its number (model::symbol).
  static constexpr dim named(std::uint32_t symbol) { return {-1, symbol}; }
  constexpr bool known() const { return size >= 0; }
  /// True if both dimensions certainly have the same size.
  constexpr bool same(dim other) const {
    return known() ? size == other.size : symbol != 0 && symbol == other.symbol && !other.known();
  }
  bool operator==(const dim&) const = default;
};

}  // namespace CAMEO_NAMESPACE
