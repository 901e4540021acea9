#pragma once
#include <cameo/ep/provider.hpp>

CAMEO_BEGIN_NAMESPACE
namespace eps {

/// Claims nothing, runs nothing. Copy eps/null, rename it, then make one hook real at a time.
struct null {
  /// The short name is for people and options, the long one for files; both are unique in a runtime's list.
  static constexpr std::string_view name = "null", long_name = "NullExecutionProvider";

  /// True for the nodes that it takes: a promise to run them.
  bool claims(const node_view&) const { return false; }
  /// Runs one of these nodes, any number of times, from any thread.
  status execute(const step_view&, run_context&) const { return {status_code::not_implemented, "null runs nothing"}; }
};

static_assert(execution_provider<null> && claims_nodes<null> && executes<null>);
// The concepts that it does not satisfy. Each needs hooks of its own, not a flag: see ep/provider.hpp.
static_assert(!has_kernels<null>);        // using kernels = kernel_list<...>: instead of claims and execute
static_assert(!claims_groups<null>);      // groups: takes whole groups of nodes
static_assert(!compiler<null>);           // compile: and makes one program of each group
static_assert(!memory_provider<null>);    // allocate, release, copy_from_host, copy_to_host: memory of its own
static_assert(!device_provider<null>);    // devices: its devices on this machine
static_assert(!fallback_provider<null>);  // using role = fallback: runs every ONNX operator

}  // namespace eps
CAMEO_END_NAMESPACE
