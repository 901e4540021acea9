#pragma once
#include <cameo/core/abi.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>

namespace CAMEO_NAMESPACE {

/// The most that a machine can do, as far as a provider has measured it.
struct machine_peak {
  double operations = 0;        // float32 operations per second; a fused multiply-add is two
  double bytes_per_second = 0;  // when a buffer of the requested size is read again and again
  std::string target;           // the instruction set of the loops that were measured
  std::size_t threads = 0;      // the number of threads that ran at once

  /// The least time that this work takes, by the roofline model: operations and reading happen at once. Nothing if
  /// neither number is known. Not for a peak that has not been measured.
  std::optional<double> least_nanoseconds(std::optional<double> work, std::optional<double> bytes) const {
    if (!work && !bytes) return std::nullopt;
    return 1e9 * std::max(work.value_or(0) / operations, bytes.value_or(0) / bytes_per_second);
  }
};

/// A provider that measures the machine that its nodes run on.
/// - `static machine_peak measure_peak(std::size_t threads, std::size_t bytes, double seconds)` measures with `threads`
///   threads at once, for about `seconds` per measured number. The buffers that all threads together read have `bytes`
///   in all. It is called only by programs that compare times with the machine's peak, such as `cameo bench
///   --per-node`, and may be called by any thread.
///
/// Without it times are reported without a peak.
template <class P>
concept measures_peak = requires(std::size_t threads, std::size_t bytes, double seconds) {
  { P::measure_peak(threads, bytes, seconds) } -> std::same_as<machine_peak>;
};

}  // namespace CAMEO_NAMESPACE
