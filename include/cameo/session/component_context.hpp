#pragma once
#include <cameo/package/select.hpp>
#include <cameo/session/options.hpp>

#include <memory>

namespace cameo::inline CAMEO_ABI {

/// What session options come to where a variant is chosen: devices of the providers that they name, or their policy
/// chooses; else (`is_wish` false) of all providers there are.
struct ep_intent {
  std::vector<device_facts> devices;
  std::vector<std::optional<ep_device>> behind;  // each of them; none of a provider that tells of none
  bool is_wish = false;
  std::vector<ep_device> chosen;  // those that options or policy name one by one
};

/// A component of a model package with the variant that runs here: what sessions are made from (runtime::load). It
/// holds open the model's file, its folder and those that the package's options name, so it may outlive the package;
/// what takes their names later is nothing to it, and what the model names is found from those folders. A handle, cheap
/// to copy; immutable; thread-safe.
class component_context {
 public:
  /// The component's name.
  CAMEO_API const std::string& component() const;
  /// As the package has it.
  CAMEO_API const package_variant& variant() const;
  /// The variant's folder, absolute; empty when there is none.
  CAMEO_API const std::string& folder() const;
  /// Long name of the provider that it was selected for.
  CAMEO_API const std::string& ep() const;
  /// Devices of that provider that sessions are made with; none: those that it likes.
  CAMEO_API const std::vector<ep_device>& devices() const;
  /// What was thought of each variant, in declaration order, with what became of it.
  CAMEO_API const selection& selected() const;

 private:
  friend class session;
  struct impl;
  CAMEO_API explicit component_context(std::shared_ptr<const impl>);
  std::shared_ptr<const impl> impl_;
};

/// Any variant_policy.
using variant_choice = function_ref<selection(const selection_request&)>;

}  // namespace cameo::inline CAMEO_ABI
