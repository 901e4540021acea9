#include <cameo/core/version.hpp>
#include <cameo/eps/cpu.hpp>

#include <hwy/targets.h>

#include "machine/instruction_sets.hpp"
#include "machine/peak.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace CAMEO_NAMESPACE::eps {
namespace {

struct maker {
  std::string_view cpuid, name;
  std::uint32_t id;  // the PCI vendor id
};
constexpr maker makers[] = {{"GenuineIntel", "Intel", 0x8086}, {"AuthenticAMD", "AMD", 0x1022}};

/// Returns the processor's vendor by CPUID; empty if CPUID is not available.
std::string cpuid_vendor() {
#if defined(__x86_64__) || defined(__i386__)
  unsigned highest = 0, words[3] = {};
  if (!__get_cpuid(0, &highest, &words[0], &words[2], &words[1])) return {};
  return std::string(reinterpret_cast<const char*>(words), sizeof words);
#else
  return {};
#endif
}

/// Returns the names of Highway's targets, best first: "AVX3 AVX2 SSE4".
std::string names_of_targets(std::int64_t targets) {
  std::string names;
  for (; targets != 0; targets &= targets - 1)
    names += (names.empty() ? "" : " ") + std::string{hwy::TargetName(targets & -targets)};
  return names;
}

}  // namespace

result<std::vector<provider_device>> cpu::devices() const {
  provider_device made;
  made.name = "CPU";
  made.hardware.vendor = cpuid_vendor();
  for (const maker& each : makers)
    if (made.hardware.vendor == each.cpuid) made.hardware.vendor = each.name, made.hardware.vendor_id = each.id;
  made.metadata = {{"version", CAMEO_VERSION},
                   {"instruction_set", std::string{instruction_set_in_use()}},
                   {"instruction_sets", names_of_targets(built_targets())}};
  for (const instruction_set* each : runnable_instruction_sets()) {
    if (each->bf16 && each->bf16 == best_bf16_loops()) made.metadata.emplace_back("bf16", each->name);
    if (each->integers == &best_integer_loops()) made.metadata.emplace_back("integers", each->name);
  }
  return std::vector<provider_device>{std::move(made)};
}

machine_peak cpu::measure_peak(std::size_t threads, std::size_t bytes, double seconds) {
  return eps::measure_peak(threads, bytes, seconds);
}

}  // namespace CAMEO_NAMESPACE::eps

template CAMEO_API const cameo::provider_row& cameo::detail::row_of<cameo::eps::cpu>();
