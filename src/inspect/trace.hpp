#pragma once
#include <cameo/ep/peak.hpp>
#include <cameo/plan/plan.hpp>
#include <cameo/session/session.hpp>

#include <optional>
#include <unordered_map>

namespace cameo::inspect {

/// Time that one step took in a profiled run, all its calls together; nanoseconds.
struct step_time {
  std::size_t calls = 0;
  double total = 0, own = 0;  // own: without the steps of its subgraphs
  std::optional<double> operations = {}, bytes = {};
};
struct profiled_run {
  std::unordered_map<const plan_step*, step_time> steps;
  double wall = 0;  // from the first step's start to the last one's end
  double sum = 0;   // of all own times
  std::uint64_t dropped = 0;
  std::optional<machine_peak> peak = {};
};

/// Reads what `run --profile` wrote and finds each event's step in the plan. NO_SUCHFILE; INVALID_ARGUMENT when it is
/// no such trace, or one of another model (or of the same one, loaded with other options), naming what differs.
result<profiled_run> read_profile(const std::string& path, const plan_view& plan);

}  // namespace cameo::inspect
