#pragma once
#include <cameo/context/workspace.hpp>
#include <cameo/ep/provider_row.hpp>

#include <map>
#include <tuple>

namespace cameo::inline CAMEO_ABI {

/// A graph that waits: whose it is, the file's real path, its name.
using waiting_graph = std::tuple<std::string_view, std::string, std::string>;

/// A context for several models, while they are compiled one after the other.
struct shared_context {
  provider of;       // kept alive until the context is written
  std::string path;  // of the file to be, chosen by the first model
  std::shared_ptr<void> builder;
  std::mutex guard;  // of the builder
};

struct context_workspace::impl {
  mutable std::mutex guard;
  std::map<waiting_graph, context_binary> waiting;
  std::map<std::string_view, std::shared_ptr<shared_context>> under_way;  // by the provider's long name
};

}  // namespace cameo::inline CAMEO_ABI
