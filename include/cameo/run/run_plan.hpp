#pragma once
#include <cameo/kernel/run_context.hpp>
#include <cameo/plan/plan.hpp>

namespace CAMEO_NAMESPACE {

/// Runs `plan` as a step of another plan, to which `c` belongs: for a group that a provider compiled to a separate plan
/// (plan_options::as_step), which lives as long as the session. The inputs of `plan` are the first inputs of the step,
/// in order, and its outputs are the step's; further inputs of the step are ignored, because `plan` contains those
/// values itself. Memory, threads, limits and the stop condition are those of the run. Any number of runs may use the
/// plan in parallel; a runner allocates nothing for it after its run with the largest inputs. The caller checks the
/// types of inputs.
///   INVALID_GRAPH  the plan has more inputs, another number of outputs, or values in other memory than the host's
/// Errors of steps are returned with their nodes' names.
CAMEO_API status run_plan(run_context& c, const plan_view&);

}  // namespace CAMEO_NAMESPACE
