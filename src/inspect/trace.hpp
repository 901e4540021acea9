#pragma once
#include <cameo/ep/peak.hpp>
#include <cameo/plan/plan.hpp>
#include <cameo/session/session.hpp>

#include <optional>
#include <unordered_map>

namespace cameo::inspect {

/// The time of one step in a profiled run, all its calls together, in nanoseconds.
struct step_time {
  std::size_t calls = 0;
  double total = 0, own = 0;  // own: without the steps of its subgraphs
  std::optional<double> operations = {}, bytes = {};
};
struct profiled_run {
  std::unordered_map<const plan_step*, step_time> steps;
  double wall = 0;  // from the start of the first step to the end of the last one
  double sum = 0;   // of all own times
  std::uint64_t dropped = 0;
  std::optional<machine_peak> peak = {};
};

/// Reads a file that `run --profile` wrote and finds each event's step in the plan. NO_SUCHFILE; INVALID_ARGUMENT if it
/// is not such a trace, or the trace of another model (or of the same model with other options); the message names the
/// difference.
result<profiled_run> read_profile(const std::string& path, const plan_view& plan);

}  // namespace cameo::inspect
