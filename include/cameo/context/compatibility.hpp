#pragma once
#include <cameo/ep/provider_row.hpp>

#include <optional>

namespace cameo::inline CAMEO_ABI {

/// Metadata of a compiled model that tell providers, before anything of it is opened, whether it fits them: this and
/// the provider's long name. The text is the provider's.
inline constexpr std::string_view compatibility_key = "ep_compatibility_info.";

/// What a compiled model says to the provider with this long name; nothing if it does not mention it.
CAMEO_API std::optional<std::string> compatibility_of(const model&, std::string_view long_name);

/// What a provider thinks of that text; not_applicable from one that has no opinion. FAIL when its hook does.
CAMEO_API result<compiled_fit> fit_of(const provider&, std::string_view written);

/// Whether a session may use the model: FAIL, naming the provider, when one says that the model is not supported, or,
/// with `optimal_only`, that it had better be compiled again; otherwise the latter gives a warning.
CAMEO_API status require_fit(const model&, std::span<const provider>, bool optimal_only,
                             std::vector<std::string>& warnings);

}  // namespace cameo::inline CAMEO_ABI
