#pragma once
#include <cameo/kernel/run_context.hpp>
#include <cameo/plan/plan.hpp>

namespace cameo::inline CAMEO_ABI {

/// Runs a plan as the step of another plan that `c` belongs to: the step's inputs and outputs are the plan's, in order,
/// and memory, threads, limits and the stop condition are the run's. For what a provider compiled to a plan of its own
/// (plan_options::as_step), which lives as long as the session; any number of runs may use it at once, and none
/// allocates once it has seen its largest input. Types of inputs are the caller's to check.
///   INVALID_GRAPH  the plan has another number of inputs or outputs, or keeps values in other memory than the host's
///   and what the steps say, with their nodes' names
CAMEO_API status run_plan(run_context& c, const plan_view&);

}  // namespace cameo::inline CAMEO_ABI
