#pragma once
#include <cameo/graph/model.hpp>

CAMEO_BEGIN_NAMESPACE

/// How deep graphs may be nested, functions inlined.
inline constexpr std::size_t max_graph_depth = 128;
/// How many nodes a model may have when all its functions are inlined.
inline constexpr std::size_t max_expanded_nodes = 10'000'000;

/// "domain.name" or "domain.name:overload".
std::string function_name(const function&);

/// Holds the calls among functions to be finite and affordable: INVALID_GRAPH naming a chain that comes back to itself,
/// or when inlining would make too many nodes or nest graphs too deep. Nodes are resolved.
status check_calls(const model&);

CAMEO_END_NAMESPACE
