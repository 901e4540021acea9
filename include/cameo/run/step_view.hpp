#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE {

/// A node that a provider runs by its own hook `execute` (ep/provider.hpp). It lives as long as the plan.
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

}  // namespace CAMEO_NAMESPACE
