#include "os/processors.hpp"

#include "cpu_quota.hpp"

#include <algorithm>
#include <fstream>
#include <thread>

#include <sched.h>
#include <unistd.h>

namespace CAMEO_NAMESPACE::os {

std::size_t available_processors() {
  std::size_t count = std::max(1u, std::thread::hardware_concurrency());
  // A set larger than the kernel's always suffices; glibc's fixed set ends at 1,024 processors.
  for (std::size_t processors = 1024; processors <= 65536; processors *= 4) {
    cpu_set_t* const set = CPU_ALLOC(processors);
    if (!set) break;
    const bool known = ::sched_getaffinity(0, CPU_ALLOC_SIZE(processors), set) == 0;
    if (known) count = std::size_t(CPU_COUNT_S(CPU_ALLOC_SIZE(processors), set));
    CPU_FREE(set);
    if (known) break;
  }
  if (const double quota = cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup"); quota > 0)
    count = std::min(count, std::max<std::size_t>(1, std::size_t(quota)));
  return std::max<std::size_t>(1, count);
}

std::string processor_vendor() {
  std::ifstream facts{"/proc/cpuinfo"};
  for (std::string line; std::getline(facts, line);)
    if (line.starts_with("vendor_id")) return line.substr(line.find_last_of(" \t") + 1);
  return {};
}

std::size_t machine_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? std::size_t(pages) * std::size_t(size) : 0;
}

}  // namespace CAMEO_NAMESPACE::os
