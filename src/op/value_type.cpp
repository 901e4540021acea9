#include <cameo/op/value_type.hpp>

namespace CAMEO_NAMESPACE {

value_type value_type::tensor(dtype type) { return {type_kind::tensor, type, {}, {}, {}}; }
value_type value_type::tensor(dtype type, std::vector<dim> shape) {
  return {type_kind::tensor, type, std::move(shape), {}, {}};
}
value_type value_type::sequence(value_type element) {
  return {type_kind::sequence, {}, {}, std::make_shared<const value_type>(std::move(element)), {}};
}
value_type value_type::optional(value_type element) {
  return {type_kind::optional, {}, {}, std::make_shared<const value_type>(std::move(element)), {}};
}
value_type value_type::map(dtype keys, value_type element) {
  return {type_kind::map, keys, {}, std::make_shared<const value_type>(std::move(element)), {}};
}

std::optional<extents> value_type::fixed_shape() const {
  if (!shape || shape->size() > max_rank) return {};
  extents fixed;
  for (dim d : *shape) {
    if (!d.known()) return {};
    fixed.push_back(d.size);
  }
  return fixed;
}

namespace {

std::string to_text(dim d, const std::vector<std::string>* symbols) {
  if (d.known()) return std::to_string(d.size);
  // Symbol 0 means no symbol.
  return d.symbol && symbols && d.symbol < symbols->size() ? (*symbols)[d.symbol] : "?";
}

}  // namespace

std::string value_type::to_string(const std::vector<std::string>* symbols) const {
  const std::string inner = element ? element->to_string(symbols) : "unknown";
  switch (kind) {
    case type_kind::unknown: return "unknown";
    case type_kind::opaque: return "opaque(" + denotation + ")";
    case type_kind::sequence: return "seq(" + inner + ")";
    case type_kind::optional: return "optional(" + inner + ")";
    case type_kind::map: return std::string{"map("} + detail::row_of(type).name + ", " + inner + ")";
    case type_kind::tensor:
    case type_kind::sparse_tensor: break;
  }
  std::string text = kind == type_kind::tensor ? "tensor(" : "sparse_tensor(";
  text += detail::row_of(type).name;
  text += ')';
  if (!shape) return text;
  text += '[';
  for (std::size_t i = 0; i < shape->size(); ++i) text += (i ? "," : "") + to_text((*shape)[i], symbols);
  return text + "]";
}

}  // namespace CAMEO_NAMESPACE
