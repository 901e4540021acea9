#pragma once
#include <cameo/core/abi.hpp>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace CAMEO_NAMESPACE::eps {

/// Random numbers by index: the 64-bit mix of SplitMix64, applied to the start of the seed plus a multiple of 2^64
/// divided by the golden ratio.
class random_places {
 public:
  explicit random_places(std::uint64_t seed) : start_{mix(seed + step)} {}
  /// A number in [0, 1), with 53 bits.
  double uniform(std::int64_t i) const { return double(mix(start_ + std::uint64_t(i) * step) >> 11) * 0x1p-53; }
  /// A number of the standard normal distribution (mean 0, variance 1), by the method of Box and Muller.
  double normal(std::int64_t i) const {
    const std::uint64_t place = std::uint64_t(i) * 2;
    const double u = 1 - uniform(std::int64_t(place)), v = uniform(std::int64_t(place + 1));
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }

  /// The numbers of a seed; without a seed, numbers that no other run of this process has.
  static random_places make(bool has_seed, std::uint32_t seed) {
    static std::atomic<std::uint32_t> runs{0};
    if (has_seed) return random_places{seed};
    return random_places{std::uint64_t{1} << 32 | runs.fetch_add(1, std::memory_order_relaxed)};
  }

 private:
  static constexpr std::uint64_t step = 0x9E3779B97F4A7C15u;
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
  }
  std::uint64_t start_;
};

}  // namespace CAMEO_NAMESPACE::eps
