#pragma once
#include <cameo/core/abi.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>

CAMEO_BEGIN_NAMESPACE
namespace detail {

/// What a machine does at most, as far as a provider has measured it.
struct machine_peak {
  double operations = 0;        // of float32 a second; a fused multiply-add is two
  double bytes_per_second = 0;  // read from a buffer of the size asked for, over and over
  std::string target;           // instruction set of the loops
  std::size_t threads = 0;      // that ran at once

  /// What so much work takes at least, the roofline: operations and reading are done at once. Nothing where neither
  /// number is known; not for a peak that has not been measured.
  std::optional<double> least_nanoseconds(std::optional<double> work, std::optional<double> bytes) const {
    if (!work && !bytes) return std::nullopt;
    return 1e9 * std::max(work.value_or(0) / operations, bytes.value_or(0) / bytes_per_second);
  }
};

/// A provider that measures the machine its nodes run on: with so many threads at once, about `seconds` for each
/// number; `bytes` are read by all threads together.
template <class P>
concept measures_peak = requires(std::size_t threads, std::size_t bytes, double seconds) {
  { P::measure_peak(threads, bytes, seconds) } -> std::same_as<machine_peak>;
};

}  // namespace detail
CAMEO_END_NAMESPACE
