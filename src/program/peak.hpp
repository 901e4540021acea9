#pragma once
#include <cameo/ep/peak.hpp>
#include <cameo/session/session.hpp>

#include <optional>

namespace cameo::program {

/// Measures the operations and bytes per second that the machine reaches at most with a session's number of threads.
/// The measurement reads as many bytes as a run of the session uses, because weights that fit in a cache are read from
/// it. It is done by the first provider of the program that can, and takes some tens of milliseconds; nullopt if none
/// can. `moved`: the bytes that the nodes of a run read and write, if known. They are an upper bound of the bytes used,
/// since a run may read only a few rows of a large table.
std::optional<machine_peak> peak_for(const session&, std::optional<double> moved = {});

}  // namespace cameo::program
