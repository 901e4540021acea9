#include <cameo/eps/cpu/unary.hpp>
#include <cameo/op/attributes/read_attribute.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Reads the attributes in the order of their names, with the defaults of the newest version up to the node's version.
void unary_state::read_parameters(const bind_context& c, std::span<const op_version> versions) {
  float* to[] = {&parameters.a, &parameters.b};
  for (const op_version& version : versions) {
    if (version.since > c.since) break;
    std::size_t count = 0;
    for (const attribute_rule& rule : version.attributes) {
      if ((rule.kind != attribute_kind::f && rule.kind != attribute_kind::i) || count == std::size(to)) continue;
      const attribute* const a = detail::find_attribute(c.attributes, rule.name, rule.kind);
      if (rule.kind == attribute_kind::f) *to[count++] = a ? a->f : rule.default_float;
      else *to[count++] = float(a ? a->i : rule.default_int);
    }
  }
}

status unary_state::run(run_context& c) const {
  const value& x = c.input(0);
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  const auto* const from = static_cast<const std::byte*>(x.data);
  auto* const to = static_cast<std::byte*>((*out)->data);
  parallel_elements(c, x.shape.count(), 1 << 15, [&](std::int64_t first, std::int64_t last) {
    row(parameters, from + first * in_bytes, to + first * out_bytes, last - first);
  });
  return {};
}

void unary_state::finish(bind_context& c, unary_row found) {
  row = found;
  in_bytes = std::uint8_t(detail::row_of(c.inputs[0].type).bits / 8);
  out_bytes = std::uint8_t(detail::row_of(c.outputs[0].type).bits / 8);
  if (in_bytes == out_bytes) c.may_overwrite(0, 0);
}

}  // namespace CAMEO_NAMESPACE::eps
