#pragma once
#include <cameo/graph/graph.hpp>

#include <fmt/format.h>
#include <new>
#include <stdexcept>
#include <string>

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

template <class... Args>
status failed(status_code code, fmt::format_string<Args...> format, Args&&... args) {
  return status{code, fmt::format(format, std::forward<Args>(args)...)};
}

/// Calls `work` and turns what containers throw when memory runs out into a status.
template <class Work>
auto guarded(Work work) -> decltype(work()) {
#if defined(__cpp_exceptions)
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return status{status_code::out_of_memory, "no memory left for the graph"};
  } catch (const std::length_error&) {
    return status{status_code::out_of_memory, "no memory left for the graph"};
  }
#else
  return work();
#endif
}

/// How ONNX's own domain is called in messages.
inline std::string_view domain_name(std::string_view domain) { return domain.empty() ? "ai.onnx" : domain; }

}  // namespace cameo::inline CAMEO_ABI
