#include "onnx_reader.hpp"

namespace CAMEO_NAMESPACE {
namespace {

/// The fields for each kind of attribute, in the order in which they are checked if the kind is not declared.
struct shown_row {
  attribute_kind kind;
  bool (*shows)(const wire::attribute_message&);
};
using source = const wire::attribute_message&;
constexpr shown_row shown_rows[] = {
    {attribute_kind::f, [](source a) { return a.f.has_value(); }},
    {attribute_kind::i, [](source a) { return a.i.has_value(); }},
    {attribute_kind::s, [](source a) { return a.s.data() != nullptr; }},
    {attribute_kind::t, [](source a) { return a.t != nullptr; }},
    {attribute_kind::g, [](source a) { return a.g != nullptr; }},
    {attribute_kind::sparse_tensor, [](source a) { return a.sparse_tensor != nullptr; }},
    {attribute_kind::type_proto, [](source a) { return a.tp != nullptr; }},
    {attribute_kind::floats, [](source a) { return !a.floats.empty(); }},
    {attribute_kind::ints, [](source a) { return !a.ints.empty(); }},
    {attribute_kind::strings, [](source a) { return !a.strings.empty(); }},
    {attribute_kind::tensors, [](source a) { return !a.tensors.empty(); }},
    {attribute_kind::graphs, [](source a) { return !a.graphs.empty(); }},
    {attribute_kind::sparse_tensors, [](source a) { return !a.sparse_tensors.empty(); }},
    {attribute_kind::type_protos, [](source a) { return !a.type_protos.empty(); }},
};

/// The kind that the fields of an attribute imply; files of old IR versions do not declare it.
attribute_kind shown_kind(const wire::attribute_message& a) {
  for (const shown_row& each : shown_rows)
    if (each.shows(a)) return each.kind;
  return attribute_kind::undefined;
}

/// True when the fields for this kind have a value.
bool shows(const wire::attribute_message& a, attribute_kind kind) {
  for (const shown_row& each : shown_rows)
    if (each.kind == kind) return each.shows(a);
  return false;
}

}  // namespace

status onnx_reader::read_attributes(const wire::node_message& from, scope& in, std::vector<attribute>& to,
                                    std::vector<graph*>& subgraphs) {
  to.reserve(from.attribute.size());
  for (const wire::attribute_message& a : from.attribute)
    if (status s = read_attribute(a, &in, to.emplace_back(), subgraphs); !s)
      return std::move(s).in(fmt::format("attribute '{}'", a.name));
  return status_code::ok;
}

/// Sets the kind of an attribute, and checks that its fields are those of this kind.
status onnx_reader::read_kind(const wire::attribute_message& from, attribute& to) {
  const attribute_kind shown = shown_kind(from);
  to.kind = from.type.number == 0 ? shown : attribute_kind(from.type.number);
  if (shown != attribute_kind::undefined && shown != to.kind && !shows(from, to.kind))
    return failed(status_code::invalid_graph, "its type is {}, but its value is {}",
                  detail::attribute_kind_rows[std::size_t(to.kind)].name,
                  detail::attribute_kind_rows[std::size_t(shown)].name);
  if (to.kind == attribute_kind::undefined && !from.rest.empty() && to.ref_attr_name.empty())
    return {status_code::invalid_graph, "an unknown type of attribute"};
  if (to.ref_attr_name.empty() && shown == attribute_kind::undefined &&
      (to.kind == attribute_kind::t || to.kind == attribute_kind::g || to.kind == attribute_kind::sparse_tensor ||
       to.kind == attribute_kind::type_proto))
    return failed(status_code::invalid_graph, "its type is {}, but it has no value of it",
                  detail::attribute_kind_rows[std::size_t(to.kind)].name);
  return status_code::ok;
}

status onnx_reader::read_attribute(const wire::attribute_message& from, scope* in, attribute& to,
                                   std::vector<graph*>& subgraphs) {
  if (from.name.empty()) return {status_code::invalid_graph, "an attribute without a name"};
  to.name = text(from.name);
  to.ref_attr_name = text(from.ref_attr_name);
  to.doc_string = text(from.doc_string);
  if (status s = read_kind(from, to); !s) return s;
  to.f = from.f.value_or(0);
  to.i = from.i.value_or(0);
  to.s = text(from.s);
  const auto all = [&]<class T>(const wire::numbers<T>& numbers) {
    const std::span<T> made = or_throw(model_.memory.take<T>(numbers.size()));
    numbers.copy_to(made.data());
    return std::span<const T>{made};
  };
  to.floats = all(from.floats);
  if (to.kind != attribute_kind::graphs) to.ints = all(from.ints);
  if (!from.strings.empty()) {
    std::vector<std::string_view> strings;
    for (wire::text words : from.strings) strings.push_back(text(words));
    to.strings = kept(strings);
  }
  if (status s = read_attribute_tensors(from, to); !s) return s;
  if (status s = read_attribute_types(from, to); !s) return s;
  to.unknown = rest_of_attribute(from);
  if (to.kind == attribute_kind::g && from.g) return read_attribute_graph(*from.g, in, subgraphs, to.i);
  if (to.kind != attribute_kind::graphs) return status_code::ok;
  std::vector<std::int64_t> numbers;
  for (const wire::graph_message& g : from.graphs)
    if (status s = read_attribute_graph(g, in, subgraphs, numbers.emplace_back()); !s) return s;
  to.ints = kept(numbers);
  return status_code::ok;
}

status onnx_reader::read_attribute_graph(const wire::graph_message& from, scope* in, std::vector<graph*>& subgraphs,
                                         std::int64_t& number) {
  if (!in) return {status_code::invalid_graph, "a graph cannot be the default of a function's attribute"};
  number = std::int64_t(subgraphs.size());
  subgraphs.push_back(&model_.add_graph(&in->g));
  return read_graph(from, *subgraphs.back(), in->opsets);
}

status onnx_reader::read_attribute_tensors(const wire::attribute_message& from, attribute& to) {
  std::vector<value> tensors;
  const auto add = [&](const auto& message) -> status {
    result<value> made = tensors_.read(message);
    if (!made) return made.error();
    tensors.push_back(*made);
    return status_code::ok;
  };
  const auto add_all = [&](const auto& messages) -> status {
    for (const auto& message : messages)
      if (status s = add(message); !s) return s;
    return status_code::ok;
  };
  status s;
  if (to.kind == attribute_kind::t && from.t) s = add(*from.t);
  if (to.kind == attribute_kind::sparse_tensor && from.sparse_tensor) s = add(*from.sparse_tensor);
  if (to.kind == attribute_kind::tensors) s = add_all(from.tensors);
  if (to.kind == attribute_kind::sparse_tensors) s = add_all(from.sparse_tensors);
  if (s && !tensors.empty()) to.tensors = kept(tensors);
  return s;
}

status onnx_reader::read_attribute_types(const wire::attribute_message& from, attribute& to) {
  std::vector<const value_type*> types;
  const auto add = [&](const wire::type_message& message) -> status {
    result<value_type> made = read_type(message, model_);
    if (!made) return made.error();
    types.push_back(model_.keep(*std::move(made)));
    return status_code::ok;
  };
  if (to.kind == attribute_kind::type_proto && from.tp)
    if (status s = add(*from.tp); !s) return s;
  if (to.kind == attribute_kind::type_protos)
    for (const wire::type_message& message : from.type_protos)
      if (status s = add(message); !s) return s;
  if (!types.empty()) to.types = kept(types);
  return status_code::ok;
}

std::string_view onnx_reader::rest_of_attribute(const wire::attribute_message& from) {
  std::string rest;
  wire::put(rest, from.rest);
  bool any = !rest.empty();
  const auto add = [&](std::uint32_t number, const std::string& inside) {
    wire::put(rest, number, inside);
    any |= !inside.empty();
  };
  if (from.t) add(5, rest_of_tensor(*from.t, true));
  if (from.sparse_tensor) add(22, rest_of_tensor(*from.sparse_tensor, true));
  for (const wire::tensor_message& t : from.tensors) add(10, rest_of_tensor(t, true));
  for (const wire::sparse_tensor_message& t : from.sparse_tensors) add(23, rest_of_tensor(t, true));
  if (from.tp) add(14, rest_of_type(*from.tp));
  for (const wire::type_message& t : from.type_protos) add(15, rest_of_type(t));
  return any ? text(rest) : std::string_view{};
}

}  // namespace CAMEO_NAMESPACE
