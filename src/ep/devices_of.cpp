#include <cameo/ep/provider_row.hpp>

#include "core/guarded.hpp"

namespace CAMEO_NAMESPACE {

std::vector<ep_device> detail::devices_of(std::span<const provider> providers,
                                          const detail::callback<void(const provider_row&, const status&)>& failed) {
  std::vector<ep_device> all;
  for (const provider& p : providers) {
    const provider_row& row = *p.row;
    result<std::vector<provider_device>> stated = guarded_hook([&] { return row.devices(p.self.get()); });
    if (!stated && failed) failed(row, stated.error());
    if (!stated) continue;
    for (provider_device& device : *stated)
      all.push_back({std::string{row.name}, std::string{row.long_name}, std::string{row.vendor.name}, row.vendor.id,
                     row.is_fallback, std::move(device)});
  }
  return all;
}

}  // namespace CAMEO_NAMESPACE
