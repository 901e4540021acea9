#pragma once
#include <hwy/targets.h>

#include <cameo/eps/cpu/detail/gemm.hpp>

#include <doctest/doctest.h>
#include <string>
#include <type_traits>
#include <utility>

namespace cameo::test {

/// While it lives, kernels take the code of one instruction set (a bit of Highway); afterwards the processor's best
/// again. Panels packed before don't fit: bind kernels inside. Not for two threads at once.
class forced_target {
 public:
#ifdef CAMEO_SINGLE_TARGET  // there is no choice, and no need of Highway's library
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

inline void say_targets(const std::string& run, const std::string& other) {
  static bool said = false;
  if (!std::exchange(said, true)) MESSAGE("instruction sets run:" << run << "; not run:" << other);
}

/// Calls fn() or fn(name) once for each instruction set that the kernels are built for and that this processor has, in
/// turn, and says once in a program which those are. A sanitizer build has one set.
template <class F>
void for_each_target(F&& fn) {
  struct known_target {
    std::int64_t bit;
    const char* name;
  };
  // Highway's words for other architectures' sets exist only there.
  constexpr known_target known[] = {
#if HWY_ARCH_X86
    {HWY_AVX3, "AVX-512"},
    {HWY_AVX2, "AVX2"},
    {HWY_SSE4, "SSE4"},
#endif
#if HWY_ARCH_ARM
    {HWY_NEON, "NEON"},
#endif
    {HWY_EMU128, "portable, 128 bits"},
    {HWY_SCALAR, "portable"},
  };
  const std::int64_t built = eps::built_targets(), here = forced_target::supported();
  std::string run, other;
  for (const known_target& t : known) {
    const bool can = (built & here & t.bit) != 0;
    (can ? run : other) += std::string{" ["} + t.name + "]";
    if (!can) continue;
    const forced_target forced{t.bit};
    CAPTURE(t.name);
    if constexpr (std::is_invocable_v<F&, const char*>) fn(t.name);
    else fn();
  }
#if !HWY_ARCH_X86
  other += " [AVX-512] [AVX2] [SSE4]";
#endif
#if !HWY_ARCH_ARM
  other += " [NEON]";
#endif
  say_targets(run, other);
  CHECK_MESSAGE(!run.empty(), "no instruction set could be run");
}

}  // namespace cameo::test
