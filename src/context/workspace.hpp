#pragma once
#include <cameo/context/workspace.hpp>
#include <cameo/ep/provider_row.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <tuple>

CAMEO_BEGIN_NAMESPACE

/// A graph that waits: whose it is, the file's real path, its name.
using waiting_graph = std::tuple<std::string_view, std::string, std::string>;

/// Tells a file from one that took its place.
struct file_state {
  std::uint64_t device = 0, number = 0, bytes = 0;
  std::int64_t seconds = 0, nanoseconds = 0;  // when it was written last
  bool operator==(const file_state&) const = default;
  /// All zero when there is none.
  static file_state of(const std::string& path);
  static file_state of(int opened);
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

CAMEO_END_NAMESPACE
