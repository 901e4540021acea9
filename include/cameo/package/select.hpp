#pragma once
#include <cameo/package/package.hpp>

#include <concepts>
#include <functional>

namespace cameo::inline CAMEO_ABI {

/// What a provider thinks of a variant's compatibility string.
enum class variant_fit : std::uint8_t { not_applicable, optimal, prefer_recompilation, unsupported };

/// One device of one provider, as plain data: selection knows no providers. The provider's function must outlive it.
struct device_facts {
  std::string ep;                 // the provider's long name, as variants have it
  std::string kind;               // "cpu", "gpu", "npu"; empty: the provider tells of no device
  std::string vendor;             // for messages
  package_options_list metadata;  // "architecture", if the provider states one, is matched by the older layouts
  /// Empty: no opinion. A status, or an exception, counts as none.
  std::function<result<variant_fit>(std::string_view)> judge;
};

/// What is to be decided: which variant of a component, on which of these devices. Devices of one provider stand
/// together; providers in order of preference.
struct selection_request {
  const package_component& component;
  package_layout layout;
  std::span<const device_facts> devices;
  bool is_wish = true;  // false: nobody named a provider; these are all there are, the fallback last
};

/// Why a variant was taken, or not.
struct variant_verdict {
  std::string variant;
  bool matches = false;
  int score = 0;   // of those that match; more is better
  std::string ep;  // the provider it was held against last
  std::string why;
  const device_facts* device = nullptr;  // the best for it, if it matches
};

/// The variant that was chosen, null if none, and a verdict for each in declaration order.
struct selection {
  const package_variant* variant = nullptr;
  const device_facts* device = nullptr;
  std::vector<variant_verdict> verdicts;
  /// A line for each variant: "npu: no: its ep is 'X', not 'Y'".
  CAMEO_API std::string text() const;
};

/// Decides which variant runs; a type, so that one may bring its own.
template <class P>
concept variant_policy = requires(const P& policy, const selection_request& request) {
  { policy(request) } -> std::same_as<selection>;
};

/// ONNX Runtime's rule: the first provider alone counts, or the fallback if nobody named one; a variant must name it,
/// and a kind of device it has, and may not be unsupported. Of those, the best fit: optimal 100, to be compiled again
/// 50, anything else 0; then the first. `ranked`: when nothing fits the first provider of all, the next one is asked,
/// and so on.
struct best_fit {
  bool ranked = false;
  CAMEO_API selection operator()(const selection_request&) const;
};
static_assert(variant_policy<best_fit>);

/// FAIL that says of each variant why it was not taken.
CAMEO_API status no_suitable_variant(const package_component&, const selection&, std::span<const device_facts>);

/// Asks the policy. INVALID_ARGUMENT for a component that there is not; FAIL when no variant fits. What is returned
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

}  // namespace cameo::inline CAMEO_ABI
