#pragma once
#include <cameo/ep/provider_row.hpp>

#include <optional>

namespace CAMEO_NAMESPACE {

/// The key of a compiled model's metadata with which a provider decides, before any context is opened, whether the
/// model fits it: this prefix and the provider's long name. The provider defines the text of the value.
inline constexpr std::string_view compatibility_key = "ep_compatibility_info.";

/// Returns the compatibility text that a compiled model holds for the provider with this long name; std::nullopt if it
/// holds none.
CAMEO_API std::optional<std::string> compatibility_of(const model&, std::string_view long_name);

/// Calls the provider's hook `fits` with `written`, the compatibility text of a compiled model. Returns its verdict, or
/// not_applicable if the provider has no such hook. FAIL if the hook fails.
CAMEO_API result<compiled_fit> fit_of(const provider&, std::string_view written);

/// Checks whether a session may use the model. An error with the name of the provider if a provider reports that the
/// model is unsupported: the provider's own error, or else FAIL. A model that should be compiled again is FAIL with
/// `optimal_only`; without it a message is added to `warnings`.
CAMEO_API status require_fit(const model&, std::span<const provider>, bool optimal_only,
                             std::vector<std::string>& warnings);

}  // namespace CAMEO_NAMESPACE
