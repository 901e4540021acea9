#pragma once
#include <cameo/graph/graph.hpp>

#include "core/node_words.hpp"
#include "file/messages.hpp"

CAMEO_BEGIN_NAMESPACE

/// The value, or what a container of the host layers would throw: the one try block of each entry point catches both.
template <class T>
T or_throw(result<T> made) {
  if (!made) throw std::bad_alloc{};
  return *std::move(made);
}

/// Whether something that was tried is possible. Throws std::bad_alloc where memory was lacking to find out: that is an
/// error of the whole, and a model must not depend on it.
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
/// "node 'conv1' (Conv)"
inline std::string name_of(const graph& g, const detail::graph_node& n) { return words_of(g, n).text(); }

/// How ONNX's own domain is called in messages.
inline std::string_view domain_name(std::string_view domain) { return domain.empty() ? "ai.onnx" : domain; }

CAMEO_END_NAMESPACE
