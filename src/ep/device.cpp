#include <cameo/ep/device.hpp>

#include "core/nearest.hpp"
#include "file/messages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace CAMEO_NAMESPACE {
namespace {

struct policy_row {
  std::string_view name;
  device_policy policy;
  device_kind kind;
};
constexpr policy_row policies[] = {{"default", device_policy::default_policy, device_kind::cpu},
                                   {"prefer_cpu", device_policy::prefer_cpu, device_kind::cpu},
                                   {"prefer_npu", device_policy::prefer_npu, device_kind::npu},
                                   {"prefer_gpu", device_policy::prefer_gpu, device_kind::gpu},
                                   {"max_performance", device_policy::max_performance, device_kind::gpu},
                                   {"max_efficiency", device_policy::max_efficiency, device_kind::npu},
                                   {"min_overall_power", device_policy::min_overall_power, device_kind::npu}};

bool is_discrete(const ep_device& d) {
  const std::string* const text = find_text(d.device.hardware.metadata, "Discrete");
  return d.kind() == device_kind::gpu && text && *text == "1";
}

/// True if the provider and the device are of the same vendor.
bool is_of_one_maker(const ep_device& d) {
  const hardware_device& hardware = d.device.hardware;
  if (d.vendor_id && hardware.vendor_id) return d.vendor_id == hardware.vendor_id;
  return !d.vendor.empty() && d.vendor == hardware.vendor;
}

/// The rank of a device; the least comes first. The name decides last, so that the order does not depend on the list.
auto rank(const ep_device& d) {
  return std::tuple{2 - int(d.kind()), !is_discrete(d), !is_of_one_maker(d), d.is_fallback, std::string_view{d.ep}};
}

}  // namespace

const std::string* find_text(const detail::text_pairs& all, std::string_view key) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& pair) { return pair.first == key; });
  return found == all.end() ? nullptr : &found->second;
}

void detail::sort_by_preference(std::vector<ep_device>& devices) {
  std::stable_sort(devices.begin(), devices.end(),
                   [](const ep_device& a, const ep_device& b) { return rank(a) < rank(b); });
}

result<std::vector<std::size_t>> preferred_devices(const device_request& request, device_kind kind) {
  return guarded([&]() -> result<std::vector<std::size_t>> {
    const auto first = [&](auto is_wanted) {
      const auto at = std::find_if(request.devices.begin(), request.devices.end(), is_wanted);
      return std::size_t(at - request.devices.begin());
    };
    const std::size_t none = request.devices.size();
    std::vector<std::size_t> chosen;
    if (kind != device_kind::cpu)
      if (const std::size_t i = first([&](const ep_device& d) { return d.kind() == kind; }); i != none)
        chosen.push_back(i);
    const std::size_t cpu = first([](const ep_device& d) { return d.kind() == device_kind::cpu; });
    if (cpu == none)
      return status{status_code::fail, "no provider has a device of kind cpu, and a policy needs one to fall back on"};
    chosen.push_back(cpu);
    const std::size_t last = first([](const ep_device& d) { return d.kind() == device_kind::cpu && d.is_fallback; });
    if (last != none && last != cpu) chosen.push_back(last);
    return chosen;
  });
}

result<detail::device_delegate> detail::delegate_of(device_policy policy) {
  return guarded([&]() -> result<detail::device_delegate> {
    for (const policy_row& row : policies)
      if (row.policy == policy)
        return detail::device_delegate{
            [kind = row.kind](const device_request& r) { return preferred_devices(r, kind); }};
    return failed(status_code::invalid_argument, "{} is not a device policy; they have numbers from 0 to {}",
                  int(policy), std::size(policies) - 1);
  });
}

result<device_policy> detail::device_policy_named(std::string_view word) {
  return guarded([&]() -> result<device_policy> {
    for (const policy_row& row : policies)
      if (row.name == word) return row.policy;
    const auto names = policies | ranges::views::transform(&policy_row::name);
    return failed(status_code::invalid_argument, "'{}' is not a device policy; there are {}{}", word,
                  fmt::join(names, ", "), did_you_mean(word, names));
  });
}

}  // namespace CAMEO_NAMESPACE
