#pragma once
#include <cameo/build/providers.hpp>
#include <cameo/session/runtime.hpp>

#include <array>
#include <span>

namespace cameo::build {

template <class List>
struct runtime_from;
template <class... Ps>
struct runtime_from<type_list<Ps...>> {
  using type = cameo::runtime<Ps...>;
  static std::span<const provider_row* const> rows() {
    static const std::array made{&cameo::detail::row_of<Ps>()...};
    return made;
  }
};

/// The runtime with the providers that were switched on in the build (CAMEO_PROVIDERS).
using runtime = runtime_from<providers>::type;

/// The rows of these providers in order of priority. Their names are null-terminated. No provider object is
/// constructed, since that may fail.
inline std::span<const provider_row* const> provider_rows() { return runtime_from<providers>::rows(); }

/// Adds the default provider, the build's fallback, to options that have neither providers nor a function that chooses
/// them; INVALID_ARGUMENT if they have both. If the fallback is the build's only provider, the options are not changed,
/// so that `session.disable_cpu_ep_fallback` has the same meaning as in a runtime with this one provider.
inline status choose_default_provider(session_options& options) {
  if (options.choose_devices)
    return options.providers.empty() ? status{}
                                     : status{status_code::invalid_argument,
                                              "chooses providers, and providers are named; give one of the two"}
                                           .in("policy");
  const std::span<const provider_row* const> rows = provider_rows();
  if (options.providers.empty() && rows.size() > 1) options.providers.emplace_back(rows.back()->name);
  return {};
}

}  // namespace cameo::build
