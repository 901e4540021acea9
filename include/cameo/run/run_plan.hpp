#pragma once
#include <cameo/kernel/run_context.hpp>
#include <cameo/plan/plan.hpp>

namespace CAMEO_NAMESPACE {

/// Runs a plan as a step of another plan, to which `c` belongs. The step's first inputs and its outputs are the plan's,
/// in order (the plan has its own further inputs); memory, threads, limits and the stop condition are those of the run.
/// For a group that a provider compiled to a separate plan (plan_options::as_step), which lives as long as the session.
/// Any number of runs may use it in parallel; none allocates once it has seen its largest input. The caller checks the
/// types of inputs.
///   INVALID_GRAPH  the plan has more inputs, another number of outputs, or values in other memory than the host's
/// Errors of steps are returned with their nodes' names.
CAMEO_API status run_plan(run_context& c, const plan_view&);

}  // namespace CAMEO_NAMESPACE
