#pragma once
#include <cameo/context/workspace.hpp>
#include <cameo/ep/provider_row.hpp>

namespace CAMEO_NAMESPACE {

namespace detail {
class file_bytes;
class held_folder;
}  // namespace detail

/// The location of a model's contexts.
struct context_folder {
  std::string model;  // the model's file, for messages; empty: it came from memory
  std::string path;   // the folder, with its last separator; if `known`, empty stands for the current folder
  /// The model's file if its contexts are beside it: symbolic links there may then lead to the folder that contains the
  /// file itself (model_folders).
  const detail::file_bytes* file = nullptr;
  bool known = false;  // false: the model came from memory, and no folder was set
  /// An open folder that is used in place of `path`, unless it is null.
  std::shared_ptr<const detail::held_folder> folder;
  /// Returns the bytes of the context that a node names; null: files are read.
  detail::callback<result<std::vector<std::byte>>(std::string_view name)> read;
};

/// Restores the programs of a provider's compiled nodes, one each, in their order. If `shared` (may be null) has every
/// graph that the nodes need, no file is opened. Otherwise each file is opened once, and graphs in it that this model
/// does not use are kept in `shared`. INVALID_GRAPH, naming the node, for an invalid path, a context that the provider
/// can't read, and a graph that no context has. Errors of `read` are returned.
result<std::vector<compiled_node>> restore_contexts(const provider&, std::span<const node_view>, const context_folder&,
                                                    const context_workspace* shared);

}  // namespace CAMEO_NAMESPACE
