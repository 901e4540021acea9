#pragma once
#include <cameo/kernel/run_context.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {

/// Returns how many rows, with an amount of work `each`, make up a task that pays for another thread, which is an
/// amount of `work`; at least one.
constexpr std::int64_t grain_of(std::int64_t work, std::int64_t each) {
  return std::max<std::int64_t>(1, work / std::max<std::int64_t>(1, each));
}

/// Calls f(first, last, lane) for all blocks of `grain` rows: parallel_for() that also passes the worker's number. It
/// does not check before each row whether the run is to be stopped, because rows are too short for that.
template <class F>
bool parallel_rows(run_context& c, std::int64_t count, std::int64_t grain, F&& f) {
  if (count <= 0) return true;
  return c.parallel_lanes(std::size_t((count - 1) / grain + 1), [&](std::size_t block, std::size_t lane) {
    const std::int64_t first = std::int64_t(block) * grain;
    f(first, std::min(first + grain, count), lane);
  });
}

/// Calls f(row, lane) for each row: parallel_each() for rows that are too short for a stop check each.
template <class F>
bool parallel_each_row(run_context& c, std::int64_t count, std::int64_t grain, F&& f) {
  return parallel_rows(c, count, grain, [&](std::int64_t first, std::int64_t last, std::size_t lane) {
    for (std::int64_t row = first; row < last; ++row) f(row, lane);
  });
}

}  // namespace CAMEO_NAMESPACE::eps
