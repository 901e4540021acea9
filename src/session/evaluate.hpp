#pragma once
#include <cameo/ep/provider_row.hpp>

namespace CAMEO_NAMESPACE {

/// Runs single nodes on constants with the kernels of a session's providers that work in host memory. Providers are
/// tried from the last to the first, because the fallback, which is last, has the most kernels.
class kernel_evaluator {
 public:
  /// `limit` is the greatest number of bytes for the outputs and the scratch memory of one node.
  kernel_evaluator(std::span<const provider> providers, std::size_t limit) : providers_{providers}, limit_{limit} {}
  /// The outputs of a node, allocated in `memory`. NOT_IMPLEMENTED if no provider has a kernel for the node, if it has
  /// subgraphs, or if an output is not a tensor of numbers.
  result<std::span<const value>> evaluate(const node_view&, arena& memory) const;

 private:
  const provider* provider_for(const node_view&) const;
  std::span<const provider> providers_;
  std::size_t limit_;
};

}  // namespace CAMEO_NAMESPACE
