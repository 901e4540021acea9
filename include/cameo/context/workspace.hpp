#pragma once
#include <cameo/core/abi.hpp>

#include <cstddef>
#include <memory>

namespace CAMEO_NAMESPACE {

/// The contexts that sessions with `ep.share_ep_contexts` share: opened contexts whose remaining graphs later sessions
/// take and, for models that are compiled together, the one context that holds all their graphs until
/// `ep.stop_share_ep_contexts` writes it. Every runtime has a workspace, shared with its copies;
/// session_options::workspace replaces it. Sessions hold the contexts that they took, so sessions and workspace may be
/// destroyed in any order. Thread-safe.
class context_workspace {
 public:
  CAMEO_API context_workspace();
  context_workspace(const context_workspace&) = delete;
  context_workspace& operator=(const context_workspace&) = delete;
  CAMEO_API ~context_workspace();

  /// The number of graphs that no session has taken yet.
  CAMEO_API std::size_t waiting_graphs() const;

  struct impl;
  impl& inside() const { return *impl_; }

 private:
  std::unique_ptr<impl> impl_;
};

}  // namespace CAMEO_NAMESPACE
