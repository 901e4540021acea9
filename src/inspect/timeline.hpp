#pragma once
#include <cameo/plan/plan.hpp>
#include <cameo/session/session.hpp>

namespace cameo::inspect {

/// How the steps of a main graph use memory, in order.
struct timeline {
  /// A value that has an address in the plan, from the step that makes it to the last one that reads it, both included.
  struct placed_value {
    slot position;
    std::size_t offset, bytes;  // regions of several memory kinds are stacked
    std::uint32_t first, last;
  };
  std::vector<placed_value> values;  // by first step
  std::vector<std::uint64_t> live;   // per step: bytes in use by at least one value
  std::vector<std::uint64_t> read;   // per step: bytes of the constants that it reads
  std::vector<std::uint64_t> known;  // per step: bytes of all constants that were read so far, each counted once
  std::uint64_t region_bytes = 0;
  std::size_t left_out = 0;  // values whose address is found only in a run
};
timeline timeline_of(const graph& g, const plan_view& plan);

}  // namespace cameo::inspect
