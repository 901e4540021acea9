#pragma once
#include <cameo/core/callback.hpp>
#include <cameo/core/function_ref.hpp>
#include <cameo/package/package.hpp>

#include <concepts>

namespace CAMEO_NAMESPACE {

/// A provider's verdict on a variant's compatibility string.
enum class variant_fit : std::uint8_t { not_applicable, optimal, prefer_recompilation, unsupported };

/// One device of one provider, as plain data, so that selection needs no providers. What `judge` refers to must outlive
/// it.
struct device_facts {
  std::string ep;                 // the provider's long name, as in variants
  std::string kind;               // "cpu", "gpu", "npu"; empty: the provider lists no devices
  std::string vendor;             // for messages
  package_options_list metadata;  // "architecture", if the provider states one, is matched by the older layouts
  /// The provider's verdict on a compatibility string; empty: the provider has no such hook. An error or an exception
  /// counts as no verdict.
  detail::callback<result<variant_fit>(std::string_view)> judge;
};

/// The input of a selection: the component of which a variant is to be selected, and the devices that may run it.
/// Devices of one provider are adjacent; providers are in order of preference.
struct selection_request {
  const package_component& component;
  package_layout layout;
  std::span<const device_facts> devices;
  bool is_wish = true;  // false: no provider was named, so these are all providers, the fallback last
};

/// The reason why a variant was chosen or not.
struct variant_verdict {
  std::string variant;
  bool matches = false;
  int score = 0;                         // of a matching variant; higher is better
  std::string ep;                        // the provider with which it was compared last
  std::string why;                       // the reason, for display
  const device_facts* device = nullptr;  // the best device for it, if it matches
};

/// The result of a selection: the chosen variant and device (null: none), and the verdicts in declaration order.
struct selection {
  const package_variant* variant = nullptr;
  const device_facts* device = nullptr;
  std::vector<variant_verdict> verdicts;
  /// Formats one line for each variant: "npu: no: its ep is 'X', not 'Y'".
  CAMEO_API std::string text() const;
};

/// A function object that chooses the variant to run; users may write their own.
template <class P>
concept variant_policy = requires(const P& policy, const selection_request& request) {
  { policy(request) } -> std::same_as<selection>;
};

/// A reference to any variant_policy.
using variant_choice = detail::function_ref<selection(const selection_request&)>;

/// ONNX Runtime's rule: only the first provider is considered, or the fallback if no provider was named. A variant
/// matches if it names that provider and a kind of device that the provider has, and the provider's verdict is not
/// unsupported. The matching variant with the highest score is chosen (optimal 100, prefer_recompilation 50, otherwise
/// 0), the first one of equals. With `ranked`, all providers are considered in order, until a variant matches one.
struct best_fit {
  bool ranked = false;
  CAMEO_API selection operator()(const selection_request&) const;
};
static_assert(variant_policy<best_fit>);

/// Returns FAIL with a message that states for each variant why it was not chosen.
CAMEO_API status no_suitable_variant(const package_component&, const selection&, std::span<const device_facts>);

/// Selects a variant of a component with the policy. The result contains pointers into the package and the devices.
/// INVALID_ARGUMENT for an unknown component; FAIL when no variant fits.
template <variant_policy Policy = best_fit>
result<selection> select_variant(const package& from, std::string_view component, std::span<const device_facts> devices,
                                 const Policy& policy = {}) {
  const result<const package_component*> found = from.component(component);
  if (!found) return status{found.error()};
  selection made = policy(selection_request{**found, from.layout(), devices});
  if (!made.variant) return no_suitable_variant(**found, made, devices);
  return made;
}

}  // namespace CAMEO_NAMESPACE
