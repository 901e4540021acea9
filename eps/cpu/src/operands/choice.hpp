#pragma once
#include <cameo/kernel/bind_context.hpp>

#include "refuse.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The index of `given` in `names`; INVALID_GRAPH, with a list of the names, if it is not one of them. `what` is the
/// name of the attribute in the message.
result<std::size_t> choice_of(std::string_view what, std::string_view given, std::span<const std::string_view> names);

/// Sets `choice` to the index in `names` of the value of a string attribute. Without the attribute, `choice` is
/// unchanged.
template <class E, std::size_t N>
status read_choice(const bind_context& c, std::string_view name, const std::string_view (&names)[N], E& choice) {
  const result<std::size_t> found = choice_of(name, c.string_or(name, names[std::size_t(choice)]), names);
  if (found) choice = E(*found);
  return found.error();
}

}  // namespace CAMEO_NAMESPACE::eps
