#pragma once
#include <cameo/package/select.hpp>
#include <cameo/session/options.hpp>

#include <memory>

namespace CAMEO_NAMESPACE {

namespace detail {
struct loader;  // session/loader.hpp

/// The devices that session options mean for the selection of a variant: those of the providers that the options name
/// or their policy chooses; else (`is_wish` false) those of all providers.
struct ep_intent {
  std::vector<device_facts> devices;
  std::vector<std::optional<ep_device>> behind;  // for each of them; nullopt for a provider that lists no devices
  bool is_wish = false;
  std::vector<ep_device> chosen;  // those that options or policy name one by one
};
}  // namespace detail

/// A component of a model package with the variant that runs here: sessions are made from it (runtime::load). It
/// holds open the model's file, its folder and the folders that the package's options name, so it may outlive the
/// package; files that take their names later have no effect, and paths in the model start from those folders. A
/// handle, cheap to copy; immutable; thread-safe.
class component_context {
 public:
  /// The component's name.
  CAMEO_API const std::string& component() const;
  /// The variant as in the package.
  CAMEO_API const package_variant& variant() const;
  /// The variant's folder, absolute; empty when it has no folder.
  CAMEO_API const std::string& folder() const;
  /// The long name of the provider that it was selected for.
  CAMEO_API const std::string& ep() const;
  /// The devices of that provider that sessions are made with; empty: the provider chooses.
  CAMEO_API const std::vector<ep_device>& devices() const;
  /// The verdict on each variant, in declaration order, and the result.
  CAMEO_API const selection& selected() const;

 private:
  friend struct detail::loader;
  struct impl;
  CAMEO_API explicit component_context(std::shared_ptr<const impl>);
  std::shared_ptr<const impl> impl_;
};

}  // namespace CAMEO_NAMESPACE
