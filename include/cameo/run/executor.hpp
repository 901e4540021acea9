#pragma once
#include <cameo/kernel/kernel.hpp>

CAMEO_BEGIN_NAMESPACE

/// A node as an executor runs it. It lives as long as the plan.
struct step_view {
  std::string_view name, domain, op_type;
  int since = 0;
  std::span<const attribute> attributes;
  std::span<const operand> inputs, outputs;

  /// The attribute with this name, or null.
  const attribute* find(std::string_view attribute_name) const {
    return detail::find_attribute(attributes, attribute_name);
  }
};

/// A provider that runs its nodes itself, any number of times, from any thread. An error of `execute` ends the run,
/// with the node's name in front; an exception becomes RUNTIME_EXCEPTION.
template <class P>
concept executor = requires(const P& p, const step_view& s, run_context& c) {
  { p.execute(s, c) } -> std::same_as<status>;
};

CAMEO_END_NAMESPACE
