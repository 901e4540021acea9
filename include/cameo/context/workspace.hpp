#pragma once
#include <cameo/core/abi.hpp>

#include <cstddef>
#include <memory>

namespace cameo::inline CAMEO_ABI {

/// What sessions with `ep.share_ep_contexts` share: contexts that a session opened and whose graphs later ones take,
/// and, where models are compiled together, the context that holds all their graphs until `ep.stop_share_ep_contexts`
/// writes it. Every runtime has one, which its copies share; session_options::workspace takes another. Sessions hold
/// what they took from it, so that it and they may end in any order. Thread-safe.
class context_workspace {
 public:
  CAMEO_API context_workspace();
  context_workspace(const context_workspace&) = delete;
  context_workspace& operator=(const context_workspace&) = delete;
  CAMEO_API ~context_workspace();

  /// Graphs that wait for a session to take them.
  CAMEO_API std::size_t waiting_graphs() const;

  struct impl;
  impl& inside() const { return *impl_; }

 private:
  std::unique_ptr<impl> impl_;
};

}  // namespace cameo::inline CAMEO_ABI
