// Sequences, optionals and strings.
#include <cameo/geometry/joining.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "infer_list.hpp"
#include "tools.hpp"

namespace CAMEO_NAMESPACE::infer {
namespace {

/// The element type of a sequence; null when unknown. INVALID_GRAPH when the input is not a sequence.
result<const value_type*> element_of(const infer_context& c, std::size_t input) {
  const value_type* type = c.has_input(input) ? c.input(input) : nullptr;
  if (!type || type->kind == type_kind::unknown) return nullptr;
  if (type->kind == type_kind::sequence) return type->element.get();
  return invalid("input ", input, " is ", type->to_string(), ", must be a sequence");
}

}  // namespace

status sequence_construct(infer_context& c) {
  std::optional<value_type> element;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    if (!c.has_input(i)) return status_code::ok;
    result<value_type> merged = element ? merge(*element, *c.input(i)) : result<value_type>{*c.input(i)};
    if (!merged) return merged.error();
    element = std::move(*merged);
  }
  if (!element) return status_code::ok;
  const value_type type = value_type::sequence(std::move(*element));
  return give(c, 0, &type);
}

status sequence_empty(infer_context& c) {
  result<dtype> element = dtype_of("dtype", attributes_of<op::SequenceEmpty>{c.attributes()}.dtype, dtype::f32);
  if (!element) return element.error();
  const value_type type = value_type::sequence(value_type::tensor(*element));
  return give(c, 0, &type);
}

status sequence_at(infer_context& c) {
  result<const value_type*> element = element_of(c, 0);
  if (!element) return element.error();
  return give(c, 0, *element);
}

status sequence_erase(infer_context& c) {
  if (result<const value_type*> element = element_of(c, 0); !element) return element.error();
  return give_type_of(c, 0, 0);
}

status sequence_insert(infer_context& c) {
  result<const value_type*> element = element_of(c, 0);
  if (!element) return element.error();
  if (!*element || !c.has_input(1)) return status_code::ok;
  result<value_type> merged = merge(**element, *c.input(1));
  if (!merged) return merged.error();
  const value_type type = value_type::sequence(std::move(*merged));
  return give(c, 0, &type);
}

status sequence_length(infer_context& c) {
  if (result<const value_type*> element = element_of(c, 0); !element) return element.error();
  return give(c, 0, dtype::i64, dims{});
}

status concat_from_sequence(infer_context& c) {
  result<const value_type*> element = element_of(c, 0);
  if (!element) return element.error();
  if (!*element || !(*element)->is_tensor()) return status_code::ok;
  const attributes_of<op::ConcatFromSequence> a{c.attributes()};
  const dims* const shape = (*element)->shape ? &*(*element)->shape : nullptr;
  geometry::basic_join<dim> join{a.axis, a.new_axis != 0};
  // The number of parts is unknown.
  for (const shape_view& part : {shape_view{}, view_of(shape)})
    if (status s = refused(join.add(part, "each element")); !s) return s;
  return give(c, 0, (*element)->type, copy_of(join.y().view()));
}

status split_to_sequence(infer_context& c) {
  const attributes_of<op::SplitToSequence> a{c.attributes()};
  const shape_view sizes = shape_of(c, 1);  // a number, or a list
  int_list listed = ints_of_input(c, 1);
  if (!sizes && listed.state == int_list::known) listed.state = int_list::unknown;
  const auto made = geometry::split_to_sequence_of(shape_of(c, 0), a.axis, listed, sizes.rank() == 0, a.keepdims != 0);
  if (!made) return made.error();
  if (c.element(0) == dtype::undefined) return status_code::ok;
  value_type element = value_type::tensor(c.element(0));
  element.shape = copy_of(made->shape_of(made->common_size()).view());
  const value_type type = value_type::sequence(std::move(element));
  return give(c, 0, &type);
}

status optional(infer_context& c) {
  const value_type* inner = c.has_input(0) ? c.input(0) : nullptr;
  if (!inner && c.input_count() == 0) inner = attributes_of<op::Optional>{c.attributes()}.type;
  if (!inner || inner->kind == type_kind::unknown) return status_code::ok;
  const value_type type = value_type::optional(*inner);
  return give(c, 0, &type);
}

status optional_has_element(infer_context& c) { return give(c, 0, dtype::boolean, dims{}); }

/// From version 18 on, an input that is not an optional is its own element.
status optional_get_element(infer_context& c) {
  if (!c.has_input(0)) return status_code::ok;
  const value_type* type = c.input(0);
  return give(c, 0, type->kind == type_kind::optional ? type->element.get() : type);
}

status string_split(infer_context& c) {
  const dims* in = c.shape(0);
  std::optional<dims> parts = copy_of(in);
  if (parts) parts->push_back(c.fresh_symbol());
  give(c, 0, dtype::string, std::move(parts));
  return give(c, 1, dtype::i64, copy_of(in));
}

/// The shape is [C] or [1, C]. Stop words are removed; if no word is left, there is one empty word.
status string_normalizer(infer_context& c) {
  std::optional<dims> out;
  if (const dims* in = c.shape(0)) {
    out = *in;
    if (!attributes_of<op::StringNormalizer>{c.attributes()}.stopwords.empty() || out->back().size == 0)
      out->back() = dim{};
  }
  return give(c, 0, dtype::string, std::move(out));
}

}  // namespace CAMEO_NAMESPACE::infer
