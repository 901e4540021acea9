#pragma once
#include <cameo/ep/device.hpp>

namespace CAMEO_NAMESPACE {

/// An option of a provider. Users set it by the session key "ep.<name>.<key>", with the provider's short name or its
/// long name in lower case.
struct provider_option {
  std::string_view key, otherwise, meaning;  // `otherwise`: the default
};

/// The options of one provider for one session. The value of a key is the one that the user set; else that of the first
/// chosen device with the key; else the default in the table. Only keys of the table have values. Table and devices are
/// borrowed: a provider that is being configured copies what it needs later.
class provider_options {
 public:
  explicit provider_options(std::span<const provider_option> table, std::span<const provider_device> devices = {})
      : table_{table}, devices_{devices} {}
  /// The devices of the provider that were chosen for the session, in order of preference; empty: none was chosen, and
  /// the provider may use any of its devices.
  std::span<const provider_device> devices() const { return devices_; }
  /// The value of a key: the last one that was set, or a device's, or the default; empty for a key that is not in the
  /// table.
  CAMEO_API std::string_view operator[](std::string_view key) const;
  /// Sets an option; returns false if the table has no such key.
  CAMEO_API bool set(std::string_view key, std::string_view text);
  /// True if the user set the option; a device's value does not count.
  CAMEO_API bool is_set(std::string_view key) const;
  /// The row of a key; null for a key that is not in the table.
  CAMEO_API const provider_option* find(std::string_view key) const;
  /// True if no option was set and no device was chosen.
  bool empty() const { return set_.empty() && devices_.empty(); }

 private:
  std::span<const provider_option> table_;
  std::span<const provider_device> devices_;
  std::vector<std::pair<std::string_view, std::string>> set_;
};

}  // namespace CAMEO_NAMESPACE
