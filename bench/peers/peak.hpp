#pragma once
#include <cstddef>

namespace peers {

/// What the machine does at most, with so many threads at once.
struct peak {
  double flops = 0;             // float32 operations a second; a fused multiply-add is two
  double bytes_per_second = 0;  // read from a buffer of the size asked for, over and over
  const char* target = "";      // instruction set of the loop
};

/// Measures for about `seconds` each, and takes the best of short rounds. `bytes` (at least 1 MiB are used) is spread
/// over the threads.
peak measure_peak(std::size_t threads, std::size_t bytes, double seconds);

}  // namespace peers
