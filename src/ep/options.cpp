#include <cameo/ep/options.hpp>

namespace CAMEO_NAMESPACE {

std::string_view provider_options::operator[](std::string_view key) const {
  for (auto at = set_.rbegin(); at != set_.rend(); ++at)
    if (at->first == key) return at->second;
  const provider_option* const row = find(key);
  if (!row) return {};
  for (const provider_device& device : devices_)
    if (const std::string* const text = find_text(device.options, key)) return *text;
  return row->otherwise;
}

bool provider_options::set(std::string_view key, std::string_view text) {
  const provider_option* const row = find(key);
  if (row) set_.emplace_back(row->key, text);
  return row != nullptr;
}

bool provider_options::is_set(std::string_view key) const {
  for (const auto& each : set_)
    if (each.first == key) return true;
  return false;
}

const provider_option* provider_options::find(std::string_view key) const {
  for (const provider_option& row : table_)
    if (row.key == key) return &row;
  return nullptr;
}

}  // namespace CAMEO_NAMESPACE
