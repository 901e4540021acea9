#pragma once
#include <cameo/ep/provider.hpp>

namespace CAMEO_NAMESPACE::eps {

/// A provider that claims no node, as a start for a new one: copy eps/null, rename it, then implement one hook at a
/// time.
struct null {
  /// The short name is for display and options, the long one for files; both are unique in a runtime's list.
  static constexpr std::string_view name = "null", long_name = "NullExecutionProvider";

  /// Returns true for each node that the provider promises to run.
  bool claims(const node_view&) const { return false; }
  /// Runs one of these nodes. It is called any number of times, by any thread.
  status execute(const step_view&, run_context&) const { return {status_code::not_implemented, "null runs nothing"}; }
};

static_assert(execution_provider<null> && claims_nodes<null> && executes<null>);
// Some concepts that `null` does not satisfy. A provider satisfies a concept by its hooks, which docs/hooks.md lists.
static_assert(!has_kernels<null>);        // using kernels = kernel_list<...>: instead of claims and execute
static_assert(!claims_groups<null>);      // groups: takes whole groups of nodes
static_assert(!compiler<null>);           // compile: makes one program for each group
static_assert(!memory_provider<null>);    // allocate, release, copy_from_host, copy_to_host: separate memory
static_assert(!device_provider<null>);    // devices: its devices on this machine
static_assert(!fallback_provider<null>);  // using role = fallback: runs every ONNX operator

}  // namespace CAMEO_NAMESPACE::eps
