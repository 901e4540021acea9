#pragma once
#include <cameo/package/select.hpp>
#include <cameo/session/options.hpp>

#include <memory>

namespace CAMEO_NAMESPACE {

namespace detail {
struct loader;  // session/loader.hpp

/// The devices for which a variant is selected. If the session options name providers or have a policy, `is_wish` is
/// true and these are the devices of those providers, or the ones that the policy chose; otherwise the devices of all
/// providers.
struct ep_intent {
  std::vector<device_facts> devices;
  std::vector<std::optional<ep_device>> behind;  // for each of `devices`; nullopt: its provider lists no devices
  bool is_wish = false;
  std::vector<ep_device> chosen;  // devices that the options or the policy name individually
};
}  // namespace detail

/// A component of a model package with the variant selected for this machine; runtime::load makes sessions from it. It
/// keeps the model's file, the model's folder and the folders that the package's options name open, so it may outlive
/// the package. Files that replace them later have no effect, and paths in the model are resolved from those open
/// folders. Copies share one immutable state; thread-safe.
class component_context {
 public:
  /// The component's name.
  CAMEO_API const std::string& component() const;
  /// The selected variant, as the package describes it.
  CAMEO_API const package_variant& variant() const;
  /// The absolute path of the variant's folder; empty if it has none.
  CAMEO_API const std::string& folder() const;
  /// The long name of the provider for which the variant was selected.
  CAMEO_API const std::string& ep() const;
  /// The devices of that provider that sessions use; empty: the provider chooses.
  CAMEO_API const std::vector<ep_device>& devices() const;
  /// The selected variant, and the verdict on each variant in declaration order.
  CAMEO_API const selection& selected() const;

 private:
  friend struct detail::loader;
  struct impl;
  CAMEO_API explicit component_context(std::shared_ptr<const impl>);
  std::shared_ptr<const impl> impl_;
};

}  // namespace CAMEO_NAMESPACE
