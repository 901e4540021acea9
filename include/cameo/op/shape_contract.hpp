#pragma once
#include <cameo/geometry/shape_pattern.hpp>
#include <cameo/op/op.hpp>

namespace CAMEO_NAMESPACE::detail {

/// The sizes that attributes of a node give to the names in op_version::shapes: numbers, and the lengths of lists. It
/// refers to the version.
struct attribute_sizes {
  geometry::named_size all[6]{}, of_lists[8]{};
  std::size_t count = 0, list_count = 0;

  /// Reads them from a node. An attribute of 0 or less, or one that the node omits and that has no default, states no
  /// size.
  static constexpr attribute_sizes read(const op_version& version, std::span<const attribute> attributes) {
    attribute_sizes made;
    for (const attribute_rule& rule : version.attributes) {
      if (!names(version.shapes, rule.name)) continue;
      const attribute* const given = find_attribute(attributes, rule.name);
      if (rule.kind == attribute_kind::i) {
        const std::int64_t size = given ? given->i : rule.has_default ? rule.default_int : 0;
        if (size > 0 && made.count < std::size(made.all)) made.all[made.count++] = {rule.name, size};
      } else if (given && made.list_count < std::size(made.of_lists)) {
        made.of_lists[made.list_count++] = {rule.name, length_of(*given)};
      }
    }
    return made;
  }
  constexpr std::span<const geometry::named_size> known() const { return {all, count}; }
  constexpr std::span<const geometry::named_size> lists() const { return {of_lists, list_count}; }

 private:
  static constexpr std::int64_t length_of(const attribute& a) {
    const bool of_ints = a.kind == attribute_kind::ints, of_floats = a.kind == attribute_kind::floats;
    return std::int64_t(of_ints ? a.ints.size() : of_floats ? a.floats.size() : a.strings.size());
  }
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
