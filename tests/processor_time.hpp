#pragma once
#include <ctime>

namespace cameo::test {

/// Returns the processor time in seconds that the calling thread has used; with CLOCK_PROCESS_CPUTIME_ID, that of all
/// threads of the process. Tests limit processor time and not elapsed time, because it does not include the work of
/// other processes.
inline double processor_seconds(clockid_t whose = CLOCK_THREAD_CPUTIME_ID) {
  std::timespec now{};
  ::clock_gettime(whose, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/// Returns true if `work` takes at most this processor time, over all threads of the process, in one of three tries.
/// Other processes that use the same caches can make a try slower.
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
