#include "program/peak.hpp"

#include "build/runtime.hpp"

#include <cameo/plan/plan.hpp>

#include <algorithm>

namespace cameo::program {
namespace {

constexpr std::size_t least_bytes = std::size_t{1} << 20, most_bytes = std::size_t{64} << 20;
constexpr double seconds_each = 0.012;

/// Measures the peak with provider P if it can and no provider before it could.
template <class P>
void measure_by(std::size_t threads, std::size_t bytes, std::optional<machine_peak>& made) {
  if constexpr (measures_peak<P>)
    if (!made) made = P::measure_peak(threads, bytes, seconds_each);
}

template <class... Ps>
std::optional<machine_peak> first_peak(type_list<Ps...>, std::size_t threads, std::size_t bytes) {
  std::optional<machine_peak> made;
  (measure_by<Ps>(threads, bytes, made), ...);
  return made && made->operations > 0 && made->bytes_per_second > 0 ? made : std::nullopt;
}

}  // namespace

std::optional<machine_peak> peak_for(const session& loaded, std::optional<double> moved) {
  std::size_t bytes = loaded.fixed_bytes();
  const plan_view& plan = loaded.plan();
  for (std::size_t s = 0; s < plan.initial.size() && bytes < most_bytes; ++s)
    if (plan.initial[s].kind == value_kind::tensor && plan.initial[s].data) bytes += plan.initial[s].bytes();
  if (moved && *moved < double(bytes)) bytes = std::size_t(*moved);
  return first_peak(build::providers{}, loaded.thread_count(), std::clamp(bytes, least_bytes, most_bytes));
}

}  // namespace cameo::program
