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

/// The runtime of the providers that the build switched on.
using runtime = runtime_from<providers>::type;

/// The rows of these providers by priority. Their names are constants that end with a zero. No provider object is made,
/// which may fail.
inline std::span<const provider_row* const> provider_rows() { return runtime_from<providers>::rows(); }

/// Makes the options name the default provider, which is the build's fallback, unless they name providers or have a
/// function that chooses them; INVALID_ARGUMENT for both. Where the fallback is the only provider of the build it stays
/// unnamed, so that `session.disable_cpu_ep_fallback` means the same as in a runtime of that list.
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
