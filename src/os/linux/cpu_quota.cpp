#include "cpu_quota.hpp"

#include <fstream>
#include <sstream>

namespace CAMEO_NAMESPACE::os {
namespace {

/// The number of processors that a group's quota allows; 0: no limit.
double quota_v2(const std::string& folder) {
  std::ifstream file{folder + "/cpu.max"};
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 0;
  std::istringstream number{quota};
  double allowed = 0;
  return number >> allowed ? allowed / period : 0;
}
double quota_v1(const std::string& folder) {
  std::ifstream quota_file{folder + "/cpu.cfs_quota_us"}, period_file{folder + "/cpu.cfs_period_us"};
  double quota = 0, period = 0;
  return quota_file >> quota && period_file >> period && quota > 0 && period > 0 ? quota / period : 0;
}

/// The lowest quota of a group and its ancestors.
double tightest(const std::string& root, std::string group, double (*quota)(const std::string&)) {
  double least = 0;
  for (;;) {
    if (const double q = quota(root + group); q > 0 && (least == 0 || q < least)) least = q;
    if (group.empty() || group == "/") return least;
    group.erase(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

}  // namespace

double cpu_quota(const std::string& groups_file, const std::string& root) {
  std::ifstream groups{groups_file};
  double least = 0;
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    double q = 0;
    if (controllers.empty()) q = tightest(root, group, quota_v2);
    else if (("," + controllers + ",").find(",cpu,") != std::string::npos)
      q = tightest(root + "/" + controllers, group, quota_v1);
    if (q > 0 && (least == 0 || q < least)) least = q;
  }
  return least;
}

}  // namespace CAMEO_NAMESPACE::os
