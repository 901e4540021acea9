#pragma once
#include <ctime>

namespace cameo::test {

/// Seconds that the calling thread has had of a processor; with CLOCK_PROCESS_CPUTIME_ID, all threads of the process
/// together. Tests bound these and not the time that passes: what else the machine does takes no part in them.
inline double processor_seconds(clockid_t whose = CLOCK_THREAD_CPUTIME_ID) {
  std::timespec now{};
  ::clock_gettime(whose, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/// Whether the work, with all threads of the process, takes at most so many seconds of processor time in one of three
/// tries: other processes that share the caches can slow a try down.
template <class Work>
bool ends_within(double seconds, Work work) {
  for (int i = 0; i < 3; ++i) {
    const double start = processor_seconds(CLOCK_PROCESS_CPUTIME_ID);
    work();
    if (processor_seconds(CLOCK_PROCESS_CPUTIME_ID) - start <= seconds) return true;
  }
  return false;
}

}  // namespace cameo::test
