#pragma once
#include <cameo/plan/plan.hpp>

namespace CAMEO_NAMESPACE {

/// A step that copies slot `from` to slot `to` between the host and `device`, which outlives the plan.
result<plan_step> copy_step(const memory_source& device, bool to_host, slot from, slot to, arena& memory);

/// A copy of a host constant in a device's memory, which lives as long as the arena.
result<value> copy_constant(const value& constant, const memory_source& device, std::uint8_t kind, arena& memory);

}  // namespace CAMEO_NAMESPACE
