#pragma once
#include <cameo/ep/device.hpp>

namespace cameo::inline CAMEO_ABI {

/// An option of a provider, as its users write it: the session key "ep.<name>.<key>", with the provider's short name or
/// its long one in lower case.
struct provider_option {
  std::string_view key, otherwise, meaning;  // `otherwise`: what holds when it is not set
};

/// The options of one provider for one session: what its table says, what its devices say, and what the user set. Only
/// keys of the table.
class provider_options {
 public:
  explicit provider_options(std::span<const provider_option> table, std::span<const provider_device> devices = {})
      : table_{table}, devices_{devices} {}
  /// Those of its devices that were chosen for the session, in order of preference; none: nobody chose, it may use
  /// what it likes.
  std::span<const provider_device> devices() const { return devices_; }
  /// The last that was set, or the table's; empty for a key that is in neither.
  std::string_view operator[](std::string_view key) const {
    for (auto at = set_.rbegin(); at != set_.rend(); ++at)
      if (at->first == key) return at->second;
    for (const provider_option& row : table_)
      if (row.key == key) return row.otherwise;
    return {};
  }
  /// False if the table has no such key.
  bool set(std::string_view key, std::string_view text) {
    for (const provider_option& row : table_)
      if (row.key == key) return set_.emplace_back(row.key, text), true;
    return false;
  }
  /// Nobody set or chose anything.
  bool empty() const { return set_.empty() && devices_.empty(); }

 private:
  std::span<const provider_option> table_;
  std::span<const provider_device> devices_;
  std::vector<std::pair<std::string_view, std::string>> set_;
};

}  // namespace cameo::inline CAMEO_ABI
