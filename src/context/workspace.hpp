#pragma once
#include <cameo/context/workspace.hpp>
#include <cameo/ep/provider_row.hpp>
#include "os/files.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <tuple>

namespace CAMEO_NAMESPACE {

/// Identifies a graph of an opened context that waits for the model that uses it: the provider's long name, the file's
/// real path, and the graph's name.
using waiting_graph = std::tuple<std::string_view, std::string, std::string>;

/// Identifies a file and its contents, to detect that it was replaced.
struct file_state {
  detail::file_id id;
  std::uint64_t bytes = 0;
  std::int64_t written_ns = 0;
  bool operator==(const file_state&) const = default;
  /// The state of the file at a path; all zero if there is none.
  static file_state read(const std::string& path);
  /// The state of an open file.
  static file_state read(const os::handle&);
};
/// The context that contains a waiting graph, and the state of its file when it was opened.
struct waiting_context {
  context_binary binary;
  file_state file;
};

/// A context that is being built. Several models that are compiled one after the other may share it.
struct shared_context {
  provider owner;    // kept alive until the context is written
  std::string path;  // of the file to be written, chosen by the first model
  std::mutex guard;  // protects the members below
  std::shared_ptr<void> builder;
  std::string id;  // is also stored in the context's nodes; empty if the provider does not store ids
  bool is_written = false;
};

struct context_workspace::impl {
  mutable std::mutex guard;
  std::map<waiting_graph, waiting_context> waiting;
  std::map<std::string_view, std::shared_ptr<shared_context>> under_way;  // by the provider's long name
  /// The path of the unwritten context that models of a provider share; empty if there is none.
  std::string path_under_way(std::string_view long_name) const {
    const std::lock_guard hold{guard};
    const auto found = under_way.find(long_name);
    return found == under_way.end() ? std::string{} : found->second->path;
  }
  /// The number of groups so far in models that share a context, so that the groups get different names.
  std::atomic<std::size_t> groups = 0;
};

}  // namespace CAMEO_NAMESPACE
