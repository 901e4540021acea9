// A library to preload, with which cameo's kernels run as on a processor with fewer instruction sets: CAMEO_BEST_TARGET
// is the best one that Highway may choose, such as AVX2, SSE4 or SCALAR. tests/run --target uses it.
#include <hwy/targets.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

[[gnu::constructor]] void hold_back() {
  const char* const best = std::getenv("CAMEO_BEST_TARGET");
  if (!best) return;
  for (int bit = 0; bit < 63; ++bit)
    if (const std::int64_t target = std::int64_t{1} << bit; std::string_view{best} == hwy::TargetName(target))
      return hwy::DisableTargets(target - 1);  // better targets have lower bits
  std::fprintf(stderr, "CAMEO_BEST_TARGET: Highway has no target %s here\n", best);
  std::abort();
}

}  // namespace
