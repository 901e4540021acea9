#pragma once
#include <cameo/core/abi.hpp>

#include <string>

CAMEO_BEGIN_NAMESPACE
namespace os {

/// Processors that the CPU quotas of a process's control groups allow, and of the groups above them; 0: no limit.
/// `groups_file` is /proc/self/cgroup or one like it, `root` is where the groups are mounted. Versions 1 and 2.
double cpu_quota(const std::string& groups_file, const std::string& root);

}  // namespace os
CAMEO_END_NAMESPACE
