#pragma once
#include <cameo/kernel/run_context.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {

/// How many pieces with so much work `each` are worth a thread that `work` is worthwhile for; at least one.
constexpr std::int64_t grain_of(std::int64_t work, std::int64_t each) {
  return std::max<std::int64_t>(1, work / std::max<std::int64_t>(1, each));
}

/// parallel_for() with the lane: f(first, last, lane), for rows that are too short to ask before each whether the run
/// should end.
template <class F>
bool parallel_rows(run_context& c, std::int64_t count, std::int64_t grain, F&& f) {
  if (count <= 0) return true;
  return c.parallel_lanes(std::size_t((count - 1) / grain + 1), [&](std::size_t block, std::size_t lane) {
    const std::int64_t first = std::int64_t(block) * grain;
    f(first, std::min(first + grain, count), lane);
  });
}

/// Calls f(row, lane) for each of them, one by one: parallel_each() for such rows.
template <class F>
bool parallel_each_row(run_context& c, std::int64_t count, std::int64_t grain, F&& f) {
  return parallel_rows(c, count, grain, [&](std::int64_t first, std::int64_t last, std::size_t lane) {
    for (std::int64_t row = first; row < last; ++row) f(row, lane);
  });
}

}  // namespace CAMEO_NAMESPACE::eps
