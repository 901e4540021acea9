#pragma once
#include <hwy/targets.h>

#include "../src/machine/instruction_sets.hpp"

#include <doctest/doctest.h>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace cameo::test {

/// Restricts the kernels to one instruction set (a bit of Highway's targets) during its lifetime; the destructor
/// enables the best one of the processor again. Panels that were packed before do not fit: bind kernels during its
/// lifetime. Not thread-safe.
class forced_target {
 public:
#ifdef CAMEO_SINGLE_TARGET  // there is no choice, and Highway's library is not needed
  explicit forced_target(std::int64_t) {}
  ~forced_target() {}
  static std::int64_t supported() { return -1; }
#else
  explicit forced_target(std::int64_t target) { hwy::GetChosenTarget().Update(target); }
  ~forced_target() { hwy::GetChosenTarget().Update(hwy::SupportedTargets()); }
  static std::int64_t supported() { return hwy::SupportedTargets(); }
#endif
  forced_target(const forced_target&) = delete;
  forced_target& operator=(const forced_target&) = delete;
};

/// The targets in a set of targets, each as a single bit, best first.
inline std::vector<std::int64_t> single_targets(std::int64_t targets) {
  std::vector<std::int64_t> made;
  for (; targets != 0; targets &= targets - 1) made.push_back(targets & -targets);
  return made;
}

inline void say_targets(const std::string& run, const std::string& other) {
  static bool said = false;
  if (!std::exchange(said, true)) MESSAGE("instruction sets run:" << run << "; not run:" << other);
}

/// Calls fn() or fn(name) once for each instruction set that the kernels are built for and this processor has, and
/// reports once per program which these are. A sanitizer build has one instruction set.
template <class F>
void for_each_target(F&& fn) {
  std::string run, other;
  for (const std::int64_t target : single_targets(eps::built_targets())) {
    const std::string name = hwy::TargetName(target);
    const bool can = (forced_target::supported() & target) != 0;
    (can ? run : other) += " " + name;
    if (!can) continue;
    const forced_target forced{target};
    CAPTURE(name);
    if constexpr (std::is_invocable_v<F&, const char*>) fn(name.c_str());
    else fn();
  }
  say_targets(run, other);
  CHECK_MESSAGE(!run.empty(), "no instruction set could be run");
}

/// Calls fn(seed) for the seeds from 0 to `seeds` - 1, on each instruction set of for_each_target().
template <class F>
void for_each_target_and_seed(std::uint32_t seeds, F&& fn) {
  for_each_target([&] {
    for (std::uint32_t seed = 0; seed < seeds; ++seed) {
      CAPTURE(seed);
      fn(seed);
    }
  });
}

/// True if this processor has no products of bfloat16, which it reports as a message of the test.
inline bool no_bf16_here() {
  if (eps::best_bf16_loops()) return false;
  MESSAGE("this processor has no instructions for bfloat16");
  return true;
}

}  // namespace cameo::test
