#pragma once
#include <cameo/graph/graph.hpp>

#include "core/node_words.hpp"
#include "file/messages.hpp"

namespace CAMEO_NAMESPACE {

/// The value of a result. Throws std::bad_alloc for an error, as containers do: the try block of each entry point
/// catches both.
template <class T>
T or_throw(result<T> made) {
  if (!made) throw std::bad_alloc{};
  return *std::move(made);
}

/// Whether an attempt succeeded. Throws std::bad_alloc if memory ran out: the result must not depend on the memory that
/// is left.
inline bool is_possible(const status& tried) {
  if (tried.code() == status_code::out_of_memory) throw std::bad_alloc{};
  return bool(tried);
}

inline node_words words_of(const graph& g, const detail::graph_node& n) {
  node_words words{n.name, n.domain, n.op_type};
  for (value_id v : n.outputs)
    if (words.output.empty() && v != value_id::none) words.output = g[v].name;
  return words;
}
/// "node 'conv1' (Conv, opset 17)"; a node without a name is named by its first output.
inline std::string describe(const graph& g, const detail::graph_node& n) {
  node_words words = words_of(g, n);
  words.opset = n.opset;
  return words.text();
}
/// "node 'conv1' (Conv)", without the opset.
inline std::string name_of(const graph& g, const detail::graph_node& n) { return words_of(g, n).text(); }

/// The name of a domain in messages: ONNX's own domain has one, too.
inline std::string_view domain_name(std::string_view domain) { return domain.empty() ? "ai.onnx" : domain; }

}  // namespace CAMEO_NAMESPACE
