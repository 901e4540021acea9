#include "os/processors.hpp"

#include <doctest/doctest.h>

#include "os/linux/cpu_quota.hpp"
#include "os/processes.hpp"

#include <filesystem>
#include <fstream>
#include <string_view>

namespace cameo::test {

TEST_CASE("a CPU quota of this group or one above it limits the number of threads") {
  const std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("cameo_quota_" + std::to_string(os::process_number()));
  const auto write = [&](const std::string& file, std::string_view text) {
    std::filesystem::create_directories((root / file).parent_path());
    std::ofstream{root / file} << text;
  };
  write("groups2", "0::/outer/inner\n");
  const std::string two = (root / "groups2").string(), v2 = (root / "v2").string();
  CHECK(os::cpu_quota(two, v2) == 0);
  write("v2/outer/inner/cpu.max", "max 100000\n");
  CHECK(os::cpu_quota(two, v2) == 0);
  write("v2/outer/cpu.max", "250000 100000\n");
  CHECK(os::cpu_quota(two, v2) == doctest::Approx(2.5));
  write("v2/outer/inner/cpu.max", "50000 100000\n");
  CHECK(os::cpu_quota(two, v2) == doctest::Approx(0.5));
  write("groups1", "5:cpu,cpuacct:/box\n4:memory:/box\n");
  write("v1/cpu,cpuacct/box/cpu.cfs_quota_us", "300000\n");
  write("v1/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  CHECK(os::cpu_quota((root / "groups1").string(), (root / "v1").string()) == doctest::Approx(3));
  CHECK(os::cpu_quota((root / "absent").string(), v2) == 0);
  std::filesystem::remove_all(root);
}

}  // namespace cameo::test
