#pragma once
#include <cameo/context/workspace.hpp>
#include <cameo/ep/provider_row.hpp>
#include "os/files.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <tuple>

namespace CAMEO_NAMESPACE {

/// A graph that waits: whose it is, the file's real path, its name.
using waiting_graph = std::tuple<std::string_view, std::string, std::string>;

/// Identifies a file and its contents, to detect that another one has taken its place.
struct file_state {
  detail::file_id id;
  std::uint64_t bytes = 0;
  std::int64_t written_ns = 0;
  bool operator==(const file_state&) const = default;
  /// All zero when there is none.
  static file_state of(const std::string& path);
  static file_state of(const os::handle&);
};
/// Where a waiting graph is.
struct waiting_context {
  context_binary binary;
  file_state file;
};

/// A context for several models, while they are compiled one after the other.
struct shared_context {
  provider of;       // kept alive until the context is written
  std::string path;  // of the file to be, chosen by the first model
  std::mutex guard;  // of what is below
  std::shared_ptr<void> builder;
  std::string id;  // that its nodes have, too; empty where the provider keeps none
  bool is_written = false;
};

struct context_workspace::impl {
  mutable std::mutex guard;
  std::map<waiting_graph, waiting_context> waiting;
  std::map<std::string_view, std::shared_ptr<shared_context>> under_way;  // by the provider's long name
  /// The file of the context that models of a provider share and that is not written yet; empty without one.
  std::string path_under_way(std::string_view long_name) const {
    const std::lock_guard hold{guard};
    const auto found = under_way.find(long_name);
    return found == under_way.end() ? std::string{} : found->second->path;
  }
  /// Counts the groups of models that are compiled together: their names differ, though it is one context.
  std::atomic<std::size_t> groups = 0;
};

}  // namespace CAMEO_NAMESPACE
