#pragma once
#include <cameo/core/refuse.hpp>
#include <cameo/geometry/shape_pattern.hpp>
#include <cameo/op/op.hpp>

namespace CAMEO_NAMESPACE::detail {

/// True if a node has the input, attribute or output with this name. An attribute that is the number 0 counts as
/// absent: it switches off. `has_input` and `has_output` take the index of a formal input or output.
template <class HasInput, class HasOutput>
constexpr bool has_part(std::string_view name, const op_version& version, std::span<const attribute> attributes,
                        HasInput& has_input, HasOutput& has_output) {
  for (std::size_t i = 0; i < version.inputs.size(); ++i)
    if (version.inputs[i].name == name) return has_input(i);
  if (const attribute* const a = find_attribute(attributes, name)) return a->kind != attribute_kind::i || a->i != 0;
  for (std::size_t i = 0; i < version.outputs.size(); ++i)
    if (version.outputs[i].name == name) return has_output(i);
  return false;
}

/// Checks which parts a node has against op_version::presence. INVALID_GRAPH, in words.
template <class HasInput, class HasOutput>
constexpr status check_presence(const op_version& version, std::span<const attribute> attributes, HasInput&& has_input,
                                HasOutput&& has_output) {
  const auto has = [&](std::string_view name) { return has_part(name, version, attributes, has_input, has_output); };
  for (std::string_view rest = version.presence ? version.presence : ""; !rest.empty();) {
    std::string_view rule = geometry::detail::take(rest, ' ');
    const bool together = rule.find('&') != std::string_view::npos;
    const std::string_view first = geometry::detail::take(rule, together ? '&' : '>');
    if (together && has(first) != has(rule))
      return refuse(status_code::invalid_graph, first, " and ", rule, " go together");
    if (!together && has(first) && !has(rule)) return refuse(status_code::invalid_graph, first, " needs ", rule);
  }
  return {};
}

}  // namespace CAMEO_NAMESPACE::detail
