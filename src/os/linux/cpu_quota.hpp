#pragma once
#include <cameo/core/abi.hpp>

#include <string>

namespace CAMEO_NAMESPACE::os {

/// The number of processors that the CPU quotas of a process's control groups and of their ancestors allow; 0: no
/// limit. `groups_file` is /proc/self/cgroup or a file like it, `root` is the mount point of the groups. Supports
/// versions 1 and 2.
double cpu_quota(const std::string& groups_file, const std::string& root);

}  // namespace CAMEO_NAMESPACE::os
