#include "os/processes.hpp"

#include <cerrno>
#include <climits>
#include <csignal>
#include <fstream>

#include <unistd.h>

CAMEO_BEGIN_NAMESPACE
namespace os {

std::uint32_t process_number() { return std::uint32_t(::getpid()); }

bool is_running(std::uint32_t process) {
  if (process == 0 || process > INT_MAX) return true;  // the system has no such numbers
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

}  // namespace os
CAMEO_END_NAMESPACE
