#pragma once
#include <cameo/context/workspace.hpp>
#include <cameo/ep/provider_row.hpp>

namespace CAMEO_NAMESPACE {

namespace detail {
class file_bytes;
class held_folder;
}  // namespace detail

/// Where the contexts of a model are found.
struct context_folder {
  std::string model;  // the model's file, for messages; empty: it came from memory
  std::string path;   // empty with `known`: the current folder
  /// The model's file if its contexts lie beside it; links beside it may lead to where its path does (model_folders).
  const detail::file_bytes* file = nullptr;
  bool known = false;  // false: the model came from memory and the place of its contexts is unknown
  /// Instead of `path`: a folder that is held open.
  std::shared_ptr<const detail::held_folder> folder;
  /// Called instead of reading files; null: files are read. The name is the node's, unchanged.
  detail::callback<result<std::vector<std::byte>>(std::string_view name)> read;
};

/// The programs of a provider's compiled nodes, one each, in order. Files are opened once, and at all only if `shared`
/// (may be null) does not have every graph wanted; graphs of theirs that this model does not use are then kept there.
/// INVALID_GRAPH naming the node and the error: a path, a context that its provider can't read,
/// a graph that is in no context. Errors of `read` are passed on.
result<std::vector<compiled_node>> restore_contexts(const provider&, std::span<const node_view>, const context_folder&,
                                                    const context_workspace* shared);

}  // namespace CAMEO_NAMESPACE
