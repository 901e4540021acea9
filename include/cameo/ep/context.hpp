#pragma once
#include <cameo/core/byte_sink.hpp>
#include <cameo/core/result.hpp>
#include <cameo/graph/views.hpp>

#include <memory>
#include <string>

namespace CAMEO_NAMESPACE {

// The data that a provider reads and writes if it stores its compiled groups in files. A compiled group becomes a node
// of operator EPContext; the bytes that the provider writes, its context, lie in the node or in a file beside the
// model. The framework finds contexts and decides about files, names and attributes; the bytes belong to the provider.

/// The bytes of a context: a mapped file, or an attribute of a node. It is a handle that is cheap to copy; an object
/// that points into the bytes keeps a copy. Thread-safe.
class context_binary {
 public:
  /// Refers to bytes that `owner` keeps alive. `where` names them in messages: a path, a node.
  CAMEO_API context_binary(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, std::string where);
  /// The bytes; valid while the owner or a copy of this handle lives.
  CAMEO_API std::span<const std::byte> bytes() const;
  /// The name of the bytes in messages.
  CAMEO_API std::string_view where() const;

  /// Returns the object that a provider makes from the bytes, once for all nodes and sessions that use them. `open`
  /// returns a result<T>; for bad bytes an error, which every later caller gets as well. T is the same in all calls.
  template <class T, class Open>
  result<std::shared_ptr<const T>> opened(Open&& open) const {
    result<std::shared_ptr<const void>> content = opened_once([&]() -> result<std::shared_ptr<const void>> {
      result<T> made = open(bytes());
      if (!made) return std::move(made).error();
      return std::shared_ptr<const void>{std::make_shared<const T>(std::move(*made))};
    });
    if (!content) return std::move(content).error();
    return std::static_pointer_cast<const T>(*std::move(content));
  }

 private:
  CAMEO_API result<std::shared_ptr<const void>> opened_once(
      detail::function_ref<result<std::shared_ptr<const void>>()> open) const;
  struct shared;
  std::shared_ptr<shared> shared_;
};

/// A compiled node that a provider has to run again. The data that it refers to live as long as the session.
struct context_node {
  /// The node, with inputs and outputs of the types that the model declares. Constants that the provider left in the
  /// model (store_weightless) are among the inputs: graph::constant_of returns them, aligned.
  node_view node;
  std::string_view graph_name;  // the name of its graph in the context: `partition_name`, or the node's name
  std::string_view sdk_version, hardware_architecture, notes;
  std::string_view model_file_name;  // the name that the file of the source model had when it was compiled
  std::int64_t max_size = 0;
};

/// The attributes that a provider gives to the node of a group that it stored.
struct context_part {
  std::string sdk_version, hardware_architecture, notes;
  std::int64_t max_size = 0;
  /// Values of the attributes `source` and `partition_name`, if the bytes come from a program that uses others; empty:
  /// the first of the provider's sources, and the group's name.
  std::string source = {}, graph_name = {};
  /// True: the node names and embeds no context; its graph is found by name in the context of an earlier node. A
  /// model's first node of a provider always has the context, and an embedded context is in that node alone.
  bool is_secondary = false;
  /// Constants of the group's graph that stay in the model; only from store_weightless(). The node gets them as inputs,
  /// in this order, behind those of the graph. The ids lie in memory that lives as long as the group or the builder.
  std::span<const value_id> constants = {};
};

/// How well a compiled model fits the machine and the version of a provider. Numbers are ONNX Runtime's.
enum class compiled_fit : std::uint8_t { not_applicable = 0, optimal = 1, prefer_recompilation = 2, unsupported = 3 };

}  // namespace CAMEO_NAMESPACE
