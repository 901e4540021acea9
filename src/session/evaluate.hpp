#pragma once
#include <cameo/ep/provider_row.hpp>

namespace CAMEO_NAMESPACE {

/// Runs single nodes on constants with the kernels of a session's providers, the last in order first: the fallback has
/// the most. Only providers that work in host memory.
class kernel_evaluator {
 public:
  /// `limit`: bytes one node may take for its outputs and scratch.
  kernel_evaluator(std::span<const provider> providers, std::size_t limit) : providers_{providers}, limit_{limit} {}
  /// Outputs that are tensors of numbers; NOT_IMPLEMENTED for others, and for nodes that no provider has a kernel for.
  result<std::span<const value>> evaluate(const node_view&, arena& memory) const;

 private:
  const provider* runs(const node_view&) const;
  std::span<const provider> providers_;
  std::size_t limit_;
};

}  // namespace CAMEO_NAMESPACE
