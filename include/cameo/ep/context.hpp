#pragma once
#include <cameo/core/byte_sink.hpp>
#include <cameo/core/result.hpp>
#include <cameo/graph/views.hpp>

#include <memory>
#include <string>

CAMEO_BEGIN_NAMESPACE

// What a provider that keeps its compiled groups in files reads and writes. A compiled group becomes a node of operator
// EPContext; what the provider writes of it, its context, lies in the node or in a file beside the model. The
// framework finds contexts and decides about files, names and attributes; the bytes belong to the provider.

/// The bytes of a context: a mapped file, or what a node embeds. A handle, cheap to copy; an object that points into
/// the bytes keeps one. Thread-safe.
class context_binary {
 public:
  /// Bytes that `owner` keeps alive. `where` names them in messages: a path, a node.
  CAMEO_API context_binary(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, std::string where);
  /// The bytes; valid while the owner or a copy of this handle lives.
  CAMEO_API std::span<const std::byte> bytes() const;
  /// What names the bytes in messages.
  CAMEO_API std::string_view where() const;

  /// The object that a provider makes from the bytes, once for all nodes and sessions that use them: `open` returns a
  /// result<T>; when the bytes are bad, an error, which every later caller gets as well. T is the same in all calls.
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

/// A compiled node that a provider is to run again. What it refers to lives as long as the session.
struct context_node {
  /// Its inputs and outputs, with the types that the model says. Constants that the provider left in the model
  /// (store_weightless) are among the inputs: graph::constant_of gives them, aligned.
  node_view node;
  std::string_view graph_name;  // which graph of the context: `partition_name`, or the node's name without one
  std::string_view sdk_version, hardware_architecture, notes;
  std::string_view model_file_name;  // of the source, as it was called where it was compiled
  std::int64_t max_size = 0;
};

/// What a provider has to say in the node of a group that it stored.
struct context_part {
  std::string sdk_version, hardware_architecture, notes;
  std::int64_t max_size = 0;
  /// The attributes of these names where the bytes are of a program that has other ones; empty: the first of the
  /// provider's sources, and the group's name.
  std::string source = {}, graph_name = {};
  /// True: the node names and embeds no context; its graph is found by name in the context of an earlier node. A
  /// model's first node of a provider always has the context, and an embedded context is in that node alone.
  bool is_secondary = false;
  /// Only from store_weightless(): constants of the group's graph that stay in the model. The node takes them as
  /// inputs, in this order, behind those of the graph. They lie in the group's graph, or in the builder until it ends.
  std::span<const value_id> constants = {};
};

/// How well a compiled model fits what a provider finds here. Numbers as ONNX Runtime's.
enum class compiled_fit : std::uint8_t { not_applicable = 0, optimal = 1, prefer_recompilation = 2, unsupported = 3 };

CAMEO_END_NAMESPACE
