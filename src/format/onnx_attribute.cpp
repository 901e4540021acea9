#include "onnx_reader.hpp"

namespace cameo::inline CAMEO_ABI {
namespace {

/// The kind that the fields of an attribute show; files of old IR versions do not say it.
attribute_kind shown_kind(const onnx::AttributeProto& a) {
  if (a.has_f()) return attribute_kind::f;
  if (a.has_i()) return attribute_kind::i;
  if (a.has_s()) return attribute_kind::s;
  if (a.has_t()) return attribute_kind::t;
  if (a.has_g()) return attribute_kind::g;
  if (a.has_sparse_tensor()) return attribute_kind::sparse_tensor;
  if (a.has_tp()) return attribute_kind::type_proto;
  if (a.floats_size()) return attribute_kind::floats;
  if (a.ints_size()) return attribute_kind::ints;
  if (a.strings_size()) return attribute_kind::strings;
  if (a.tensors_size()) return attribute_kind::tensors;
  if (a.graphs_size()) return attribute_kind::graphs;
  if (a.sparse_tensors_size()) return attribute_kind::sparse_tensors;
  if (a.type_protos_size()) return attribute_kind::type_protos;
  return attribute_kind::undefined;
}

/// True when the field of this kind holds something.
bool shows(const onnx::AttributeProto& a, attribute_kind kind) {
  switch (kind) {
    case attribute_kind::f: return a.has_f();
    case attribute_kind::i: return a.has_i();
    case attribute_kind::s: return a.has_s();
    case attribute_kind::t: return a.has_t();
    case attribute_kind::g: return a.has_g();
    case attribute_kind::sparse_tensor: return a.has_sparse_tensor();
    case attribute_kind::type_proto: return a.has_tp();
    case attribute_kind::floats: return a.floats_size() != 0;
    case attribute_kind::ints: return a.ints_size() != 0;
    case attribute_kind::strings: return a.strings_size() != 0;
    case attribute_kind::tensors: return a.tensors_size() != 0;
    case attribute_kind::graphs: return a.graphs_size() != 0;
    case attribute_kind::sparse_tensors: return a.sparse_tensors_size() != 0;
    case attribute_kind::type_protos: return a.type_protos_size() != 0;
    case attribute_kind::undefined:
    case attribute_kind::count: break;
  }
  return false;
}

/// What read_attribute leaves out of a tensor: a value has no name.
void rest_of_tensor(const onnx::TensorProto& from, onnx::TensorProto& rest) {
  if (from.has_name()) rest.set_name(from.name());
  if (from.has_doc_string()) rest.set_doc_string(from.doc_string());
  copy_unknown(from, rest);
}

void rest_of_tensor(const onnx::SparseTensorProto& from, onnx::SparseTensorProto& rest) {
  copy_unknown(from, rest);
  rest_of_tensor(from.values(), *rest.mutable_values());
  rest_of_tensor(from.indices(), *rest.mutable_indices());
}

bool rest_has_words(const onnx::TensorProto& rest) { return rest.ByteSizeLong() != 0; }
bool rest_has_words(const onnx::SparseTensorProto& rest) {
  return !rest.unknown_fields().empty() || rest_has_words(rest.values()) || rest_has_words(rest.indices());
}

}  // namespace

status onnx_reader::read_attributes(onnx::NodeProto& from, scope& in, std::vector<attribute>& to,
                                    std::vector<graph*>& subgraphs) {
  to.reserve(std::size_t(from.attribute_size()));
  for (onnx::AttributeProto& a : *from.mutable_attribute())
    if (status s = read_attribute(a, &in, to.emplace_back(), subgraphs); !s)
      return std::move(s).in(fmt::format("attribute '{}'", a.name()));
  return status_code::ok;
}

status onnx_reader::read_attribute(onnx::AttributeProto& from, scope* in, attribute& to,
                                   std::vector<graph*>& subgraphs) {
  if (from.name().empty()) return {status_code::invalid_graph, "an attribute without a name"};
  to.name = text(from.name());
  to.ref_attr_name = text(from.ref_attr_name());
  to.doc_string = text(from.doc_string());
  const attribute_kind shown = shown_kind(from);
  to.kind = from.type() == onnx::AttributeProto::UNDEFINED ? shown : attribute_kind(int(from.type()));
  if (shown != attribute_kind::undefined && !shows(from, to.kind))
    return failed(status_code::invalid_graph, "its type says {}, its value is {}",
                  attribute_kind_rows[std::size_t(to.kind)].name, attribute_kind_rows[std::size_t(shown)].name);
  if (to.kind == attribute_kind::undefined && !from.unknown_fields().empty() && to.ref_attr_name.empty())
    return {status_code::invalid_graph, "a type of attribute that cameo does not know"};
  to.unknown = rest_of_attribute(from);
  if (to.ref_attr_name.empty() && shown == attribute_kind::undefined &&
      (to.kind == attribute_kind::t || to.kind == attribute_kind::g || to.kind == attribute_kind::sparse_tensor ||
       to.kind == attribute_kind::type_proto))
    return failed(status_code::invalid_graph, "its type says {}, it has none",
                  attribute_kind_rows[std::size_t(to.kind)].name);

  to.f = from.f();
  to.i = from.i();
  to.s = text(from.s());
  to.floats = kept(std::vector<float>{from.floats().begin(), from.floats().end()});
  if (to.kind != attribute_kind::graphs)
    to.ints = kept(std::vector<std::int64_t>{from.ints().begin(), from.ints().end()});
  std::vector<std::string_view> strings;
  for (const std::string& words : from.strings()) strings.push_back(text(words));
  to.strings = kept(strings);
  if (status s = read_attribute_tensors(from, to); !s) return s;
  if (status s = read_attribute_types(from, to); !s) return s;
  if (to.kind == attribute_kind::g && from.has_g()) return read_attribute_graph(*from.mutable_g(), in, subgraphs, to.i);
  if (to.kind != attribute_kind::graphs) return status_code::ok;
  std::vector<std::int64_t> numbers;
  for (onnx::GraphProto& g : *from.mutable_graphs())
    if (status s = read_attribute_graph(g, in, subgraphs, numbers.emplace_back()); !s) return s;
  to.ints = kept(numbers);
  return status_code::ok;
}

status onnx_reader::read_attribute_graph(onnx::GraphProto& from, scope* in, std::vector<graph*>& subgraphs,
                                         std::int64_t& number) {
  if (!in) return {status_code::invalid_graph, "a graph cannot be the default of a function's attribute"};
  number = std::int64_t(subgraphs.size());
  subgraphs.push_back(&model_.add_graph(&in->g));
  return read_graph(from, *subgraphs.back(), in->opsets);
}

status onnx_reader::read_attribute_tensors(const onnx::AttributeProto& from, attribute& to) {
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
  if (to.kind == attribute_kind::t && from.has_t()) s = add(from.t());
  if (to.kind == attribute_kind::sparse_tensor && from.has_sparse_tensor()) s = add(from.sparse_tensor());
  if (to.kind == attribute_kind::tensors) s = add_all(from.tensors());
  if (to.kind == attribute_kind::sparse_tensors) s = add_all(from.sparse_tensors());
  if (s) to.tensors = kept(tensors);
  return s;
}

status onnx_reader::read_attribute_types(const onnx::AttributeProto& from, attribute& to) {
  std::vector<const value_type*> types;
  const auto add = [&](const onnx::TypeProto& message) -> status {
    result<value_type> made = read_type(message, model_);
    if (!made) return made.error();
    types.push_back(model_.keep(*std::move(made)));
    return status_code::ok;
  };
  if (to.kind == attribute_kind::type_proto && from.has_tp())
    if (status s = add(from.tp()); !s) return s;
  if (to.kind == attribute_kind::type_protos)
    for (const onnx::TypeProto& message : from.type_protos())
      if (status s = add(message); !s) return s;
  to.types = kept(types);
  return status_code::ok;
}

std::string_view onnx_reader::rest_of_attribute(const onnx::AttributeProto& from) {
  onnx::AttributeProto rest;
  bool any = !from.unknown_fields().empty();
  copy_unknown(from, rest);
  const auto tensor = [&](const auto& t, auto& left) {
    rest_of_tensor(t, left);
    any |= rest_has_words(left);
  };
  if (from.has_t()) tensor(from.t(), *rest.mutable_t());
  if (from.has_sparse_tensor()) tensor(from.sparse_tensor(), *rest.mutable_sparse_tensor());
  for (const auto& t : from.tensors()) tensor(t, *rest.add_tensors());
  for (const auto& t : from.sparse_tensors()) tensor(t, *rest.add_sparse_tensors());
  if (from.has_tp()) any |= rest_of_type(from.tp(), *rest.mutable_tp());
  for (const auto& t : from.type_protos()) any |= rest_of_type(t, *rest.add_type_protos());
  return any ? text(rest.SerializeAsString()) : std::string_view{};
}

}  // namespace cameo::inline CAMEO_ABI
