// Measures the peak rates of a processor with the fastest loops that it can run: independent fused multiply-adds in
// registers, and a sum over a buffer.
#include "simd.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/aligned_allocator.h>

#include "peak.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::peak_loops {
namespace hn = hwy::HWY_NAMESPACE;

/// Runs `rounds` iterations and returns their number of floating-point operations. Twelve independent chains hide the
/// latency of the multiply-add of every processor, and fit the registers of all.
double multiply_adds(std::size_t rounds, float* sink) {
  const hn::ScalableTag<float> d;
  const auto a = hn::Set(d, 0.999f), b = hn::Set(d, 0.001f);
  auto x0 = hn::Set(d, 0.0f), x1 = hn::Set(d, 0.1f), x2 = hn::Set(d, 0.2f), x3 = hn::Set(d, 0.3f);
  auto x4 = hn::Set(d, 0.4f), x5 = hn::Set(d, 0.5f), x6 = hn::Set(d, 0.6f), x7 = hn::Set(d, 0.7f);
  auto x8 = hn::Set(d, 0.8f), x9 = hn::Set(d, 0.9f), x10 = hn::Set(d, 1.0f), x11 = hn::Set(d, 1.1f);
  for (std::size_t i = 0; i < rounds; ++i) {
    x0 = hn::MulAdd(x0, a, b), x1 = hn::MulAdd(x1, a, b), x2 = hn::MulAdd(x2, a, b), x3 = hn::MulAdd(x3, a, b);
    x4 = hn::MulAdd(x4, a, b), x5 = hn::MulAdd(x5, a, b), x6 = hn::MulAdd(x6, a, b), x7 = hn::MulAdd(x7, a, b);
    x8 = hn::MulAdd(x8, a, b), x9 = hn::MulAdd(x9, a, b), x10 = hn::MulAdd(x10, a, b), x11 = hn::MulAdd(x11, a, b);
  }
  const auto low = hn::Add(hn::Add(hn::Add(x0, x1), hn::Add(x2, x3)), hn::Add(x4, x5));
  *sink = hn::GetLane(hn::Add(low, hn::Add(hn::Add(hn::Add(x6, x7), hn::Add(x8, x9)), hn::Add(x10, x11))));
  return 24.0 * double(hn::Lanes(d)) * double(rounds);
}

/// Sums `count` floats. `count` is a multiple of the elements of 8 vectors of the largest size.
void sum(const float* from, std::size_t count, float* sink) {
  const hn::ScalableTag<float> d;
  const std::size_t n = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (std::size_t i = 0; i < count; i += 8 * n) {
    s0 = hn::Add(s0, hn::Load(d, from + i)), s1 = hn::Add(s1, hn::Load(d, from + i + n));
    s2 = hn::Add(s2, hn::Load(d, from + i + 2 * n)), s3 = hn::Add(s3, hn::Load(d, from + i + 3 * n));
    s4 = hn::Add(s4, hn::Load(d, from + i + 4 * n)), s5 = hn::Add(s5, hn::Load(d, from + i + 5 * n));
    s6 = hn::Add(s6, hn::Load(d, from + i + 6 * n)), s7 = hn::Add(s7, hn::Load(d, from + i + 7 * n));
  }
  *sink = hn::GetLane(hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(s4, s5), hn::Add(s6, s7))));
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::peak_loops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "best_rate.hpp"
#include "instruction_sets.hpp"

#include <algorithm>
#include <vector>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// A result in a separate cache line, so that threads do not slow each other down.
struct alignas(64) result_slot {
  float value = 0;
};

}  // namespace

machine_peak measure_peak(std::size_t threads, std::size_t bytes, double seconds) {
  threads = std::max<std::size_t>(threads, 1);
  std::vector<result_slot> sinks(threads);
  constexpr std::size_t rounds = 1 << 17;
  machine_peak result{.target = std::string{instruction_set_in_use()}, .threads = threads};
  float ignored = 0;
  const double operations = CAMEO_SIMD_BEST(peak_loops::multiply_adds)(rounds, &ignored) * double(threads);
  result.operations = best_rate(threads, seconds, operations, [&](std::size_t thread) {
    CAMEO_SIMD_BEST(peak_loops::multiply_adds)(rounds, &sinks[thread].value);
  });
  constexpr std::size_t step = 8 * 64;  // floats; a multiple of eight vectors of AVX-512
  const std::size_t share = (std::max<std::size_t>(bytes, 1 << 20) / sizeof(float) / threads / step + 1) * step;
  const hwy::AlignedFreeUniquePtr<float[]> buffer = hwy::AllocateAligned<float>(share * threads);
  if (!buffer) return result;
  std::fill_n(buffer.get(), share * threads, 1.0f);
  // A small buffer is read several times, so that a round is much longer than the synchronization of the threads.
  const std::size_t times = std::max<std::size_t>(1, (std::size_t{16} << 20) / (share * sizeof(float)));
  result.bytes_per_second =
      best_rate(threads, seconds, double(share * threads * sizeof(float) * times), [&](std::size_t thread) {
        for (std::size_t i = 0; i < times; ++i)
          CAMEO_SIMD_BEST(peak_loops::sum)(buffer.get() + thread * share, share, &sinks[thread].value);
      });
  return result;
}

}  // namespace CAMEO_NAMESPACE::eps
#endif
