#pragma once
#include <cameo/ep/peak.hpp>
#include <cameo/session/session.hpp>

#include <optional>

namespace cameo::program {

/// What the machine does at most with the threads of a session, reading as much as its runs touch: weights that fit a
/// cache come from there. Takes a few tens of milliseconds. By the first provider of the program that measures it;
/// nothing where none does. `moved`: the bytes that the nodes of a run read and write, if they are known. A run touches
/// no more, however large the tables are that it looks up.
std::optional<machine_peak> peak_for(const session&, std::optional<double> moved = {});

}  // namespace cameo::program
