// expect: cameo: this operator has no struct of attributes: include the header of its domain
// naming: Smooth
#include <cameo/op/attributes/read_attribute.hpp>

struct Smooth {
  static constexpr std::string_view domain = "acme", name = "Smooth";
  static constexpr cameo::attribute_rule rules[] = {{"width", cameo::attribute_kind::i}};
  static constexpr cameo::op_version versions[] = {{1, {}, {}, {}, rules, 0, 0}};
#ifndef CAMEO_MUST_FAIL
  struct attributes {
    std::int64_t width = 3;
    explicit attributes(std::span<const cameo::attribute> node) { read_attribute(node, "width", width); }
  };
#endif
};
std::int64_t width_of(std::span<const cameo::attribute> node) { return cameo::attributes_of<Smooth>{node}.width; }
