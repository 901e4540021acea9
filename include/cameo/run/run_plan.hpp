#pragma once
#include <cameo/kernel/run_context.hpp>
#include <cameo/plan/plan.hpp>

CAMEO_BEGIN_NAMESPACE

/// Runs a plan as a step of another plan, to which `c` belongs: the step's first inputs and its outputs are the plan's,
/// in order (of further inputs the plan knows itself), and memory, threads, limits and the stop condition are the
/// run's. It is for a group that a provider compiled to a plan of its own (plan_options::as_step), which lives as long
/// as the session; any number of runs may use it at once, and none allocates once it has seen its largest input. The
/// caller checks the types of inputs.
///   INVALID_GRAPH  the plan has more inputs or another number of outputs, or keeps values in other memory than the
///   host's and the errors of the steps, with their nodes' names
CAMEO_API status run_plan(run_context& c, const plan_view&);

CAMEO_END_NAMESPACE
