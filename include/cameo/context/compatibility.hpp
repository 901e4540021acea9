#pragma once
#include <cameo/ep/provider_row.hpp>

#include <optional>

namespace CAMEO_NAMESPACE {

/// The key of a compiled model's metadata with which a provider decides, before any context is opened, whether the
/// model fits it: this prefix and the provider's long name. The provider defines the text of the value.
inline constexpr std::string_view compatibility_key = "ep_compatibility_info.";

/// The compatibility text of a compiled model for the provider with this long name; std::nullopt if it has none.
CAMEO_API std::optional<std::string> compatibility_of(const model&, std::string_view long_name);

/// The provider's verdict on that text; not_applicable if the provider has no such hook. FAIL if its hook fails.
CAMEO_API result<compiled_fit> fit_of(const provider&, std::string_view written);

/// Decides whether a session may use the model. FAIL with the name of the provider if it reports that the model is
/// unsupported or, with `optimal_only`, that it should be compiled again; otherwise the latter is only a warning.
CAMEO_API status require_fit(const model&, std::span<const provider>, bool optimal_only,
                             std::vector<std::string>& warnings);

}  // namespace CAMEO_NAMESPACE
