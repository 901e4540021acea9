#pragma once
#include <cameo/core/callback.hpp>
#include <cameo/core/function_ref.hpp>
#include <cameo/package/package.hpp>

#include <concepts>

namespace CAMEO_NAMESPACE {

/// A provider's verdict on a variant's compatibility string.
enum class variant_fit : std::uint8_t { not_applicable, optimal, prefer_recompilation, unsupported };

/// One device of one provider, as plain data: selection needs no providers. The provider's function must outlive it.
struct device_facts {
  std::string ep;                 // the provider's long name, as in variants
  std::string kind;               // "cpu", "gpu", "npu"; empty: the provider lists no devices
  std::string vendor;             // for messages
  package_options_list metadata;  // "architecture", if the provider states one, is matched by the older layouts
  /// Empty: the provider has no such hook. An error, or an exception, counts as no verdict.
  detail::callback<result<variant_fit>(std::string_view)> judge;
};

/// The question that selection answers: which variant of a component, on which of these devices. Devices of one
/// provider are next to each other; providers are in order of preference.
struct selection_request {
  const package_component& component;
  package_layout layout;
  std::span<const device_facts> devices;
  bool is_wish = true;  // false: no provider was named; these are all providers, the fallback last
};

/// Why a variant was chosen, or not.
struct variant_verdict {
  std::string variant;
  bool matches = false;
  int score = 0;   // of matching variants; the higher the better
  std::string ep;  // the provider that it was compared with last
  std::string why;
  const device_facts* device = nullptr;  // the best one for it, if it matches
};

/// The variant that was chosen, null if none, and a verdict for each in declaration order.
struct selection {
  const package_variant* variant = nullptr;
  const device_facts* device = nullptr;
  std::vector<variant_verdict> verdicts;
  /// A line for each variant: "npu: no: its ep is 'X', not 'Y'".
  CAMEO_API std::string text() const;
};

/// Decides which variant runs; a type, so that users can write their own.
template <class P>
concept variant_policy = requires(const P& policy, const selection_request& request) {
  { policy(request) } -> std::same_as<selection>;
};

/// A reference to any variant_policy.
using variant_choice = detail::function_ref<selection(const selection_request&)>;

/// ONNX Runtime's rule: only the first provider counts, or the fallback if no provider was named. A variant must name
/// it, and a kind of device that it has, and must not be unsupported. Of those the best fit is chosen: optimal scores
/// 100, prefer_recompilation 50, anything else 0; of equal ones the first. `ranked`: when no variant fits the first
/// provider of all, the next one is tried, and so on.
struct best_fit {
  bool ranked = false;
  CAMEO_API selection operator()(const selection_request&) const;
};
static_assert(variant_policy<best_fit>);

/// FAIL with a message that states for each variant why it was not chosen.
CAMEO_API status no_suitable_variant(const package_component&, const selection&, std::span<const device_facts>);

/// Applies the policy. INVALID_ARGUMENT for an unknown component; FAIL when no variant fits. The result
/// points into the package and the devices.
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
