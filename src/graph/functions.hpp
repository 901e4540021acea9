#pragma once
#include <cameo/graph/model.hpp>

namespace CAMEO_NAMESPACE {

/// The deepest nesting of graphs, after functions are inlined.
inline constexpr std::size_t max_graph_depth = 128;
/// The most nodes of a model whose functions are all inlined.
inline constexpr std::size_t max_expanded_nodes = 10'000'000;

/// "domain.name" or "domain.name:overload".
std::string function_name(const function&);

/// Checks that calls among functions end and are affordable. INVALID_GRAPH, with the chain of calls, for recursion;
/// also when inlining would make too many nodes or nest graphs too deeply. Nodes are resolved.
status check_calls(const model&);

}  // namespace CAMEO_NAMESPACE
