#pragma once
#include <cameo/graph/graph.hpp>

#include "file/messages.hpp"

namespace cameo::inline CAMEO_ABI {

/// The value, or what a container of the host layers would throw: the one try block of each entry point catches both.
template <class T>
T or_throw(result<T> made) {
  if (!made) throw std::bad_alloc{};
  return *std::move(made);
}

/// "node 'conv1' (Conv, opset 17)"; a node without a name is named by its first output.
inline std::string describe(const graph& g, const graph_node& n) {
  std::string_view name = n.name;
  std::string_view kind = "node";
  for (value_id v : n.outputs)
    if (name.empty() && v != value_id::none) name = g[v].name, kind = "the node that makes";
  const char* const dot = n.domain.empty() ? "" : ".";
  if (n.opset < 1) return fmt::format("{} '{}' ({}{}{})", kind, name, n.domain, dot, n.op_type);
  return fmt::format("{} '{}' ({}{}{}, opset {})", kind, name, n.domain, dot, n.op_type, n.opset);
}

/// How ONNX's own domain is called in messages.
inline std::string_view domain_name(std::string_view domain) { return domain.empty() ? "ai.onnx" : domain; }

}  // namespace cameo::inline CAMEO_ABI
