#pragma once
#include <cameo/geometry/shape_pattern.hpp>
#include <cameo/op/op.hpp>

namespace CAMEO_NAMESPACE::detail {

/// The sizes that attributes of a node give to the names in op_version::shapes. It refers to the version.
struct attribute_sizes {
  geometry::named_size all[6]{};
  std::size_t count = 0;

  /// Reads them from a node. An attribute of 0 or less, or one that the node omits and that has no default, states no
  /// size.
  static constexpr attribute_sizes read(const op_version& version, std::span<const attribute> attributes) {
    attribute_sizes made;
    for (const attribute_rule& rule : version.attributes) {
      if (rule.kind != attribute_kind::i || !names(version.shapes, rule.name)) continue;
      const attribute* const given = find_attribute(attributes, rule.name);
      const std::int64_t size = given ? given->i : rule.has_default ? rule.default_int : 0;
      if (size > 0 && made.count < std::size(made.all)) made.all[made.count++] = {rule.name, size};
    }
    return made;
  }
  constexpr std::span<const geometry::named_size> known() const { return {all, count}; }

 private:
  static constexpr bool is_letter(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
  /// Returns whether a name is in patterns.
  static constexpr bool names(std::string_view patterns, std::string_view name) {
    for (std::size_t at = patterns.find(name); at < patterns.size(); at = patterns.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      if ((at == 0 || !is_letter(patterns[at - 1])) && (end == patterns.size() || !is_letter(patterns[end])))
        return true;
    }
    return false;
  }
};

}  // namespace CAMEO_NAMESPACE::detail
