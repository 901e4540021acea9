#include "os/processes.hpp"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include <unistd.h>

namespace CAMEO_NAMESPACE::os {
namespace {

/// The KiB after "KEY:" in a file of /proc/self, in bytes; 0 if there is no such key.
std::size_t bytes_after(std::string_view key, const char* file) {
  std::ifstream lines{file};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(key) && line[key.size()] == ':')
      return 1024 * std::strtoull(line.c_str() + key.size() + 1, nullptr, 10);
  return 0;
}

}  // namespace

std::uint32_t process_number() { return std::uint32_t(::getpid()); }

bool is_running(std::uint32_t process) {
  if (process == 0 || process > INT_MAX) return true;  // the system has no such ids
  return ::kill(pid_t(process), 0) == 0 || errno != ESRCH;
}

std::string process_name() {
  std::ifstream file{"/proc/self/comm"};
  std::string name;
  std::getline(file, name);
  return name;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// smaps_rollup is exact; the number in `status` lags behind by some pages of each thread.
std::size_t resident_bytes() { return bytes_after("Rss", "/proc/self/smaps_rollup"); }
std::size_t peak_resident_bytes() { return bytes_after("VmHWM", "/proc/self/status"); }

}  // namespace CAMEO_NAMESPACE::os
