#include "../graph/oddities.hpp"
#include "dim_denotations.hpp"
#include "onnx_proto.hpp"

namespace cameo::inline CAMEO_ABI {
namespace {

constexpr int deepest_type = 32;  // sequences of sequences of ...

result<dtype> read_element(std::int64_t number) {
  if (number == 0) return dtype::undefined;
  const dtype type = dtype_of_number(number);
  if (type == dtype::undefined)
    return failed(status_code::invalid_graph, "element type {} is none of ONNX's (1 to {})", number,
                  int(dtype::count) - 1);
  return type;
}

status read_shape(const onnx::TensorShapeProto& from, model& owner, value_type& type) {
  if (std::size_t(from.dim_size()) > max_rank)
    return failed(status_code::not_implemented, "rank {} of a type is more than cameo's limit of {}", from.dim_size(),
                  max_rank);
  std::vector<dim> dims;
  for (const auto& d : from.dim()) {
    const bool is_negative = d.has_dim_value() && d.dim_value() < 0;
    if (is_negative)
      tolerate(owner, oddity::negative_dim, "dim {} of a declared type is {}; it is taken for unknown", dims.size(),
               d.dim_value());
    if (is_negative) dims.push_back({});
    else if (d.has_dim_value()) dims.push_back(dim::of(d.dim_value()));
    else if (d.has_dim_param() && !d.dim_param().empty()) dims.push_back(dim::named(owner.symbol(d.dim_param())));
    else dims.push_back({});
  }
  type.shape = std::move(dims);
  return status_code::ok;
}

template <class Tensor>
result<value_type> read_tensor_type(const Tensor& from, type_kind kind, model& owner) {
  value_type made;
  made.kind = kind;
  result<dtype> element = read_element(from.elem_type());
  if (!element) return element.error();
  made.type = *element;
  if (from.has_shape())
    if (status s = read_shape(from.shape(), owner, made); !s) return s;
  return made;
}

result<value_type> read_bare_type(const onnx::TypeProto& from, model& owner, int depth) {
  const auto inner = [&](const onnx::TypeProto& of, type_kind kind, dtype keys) -> result<value_type> {
    result<value_type> held = read_type(of, owner, depth + 1);
    if (!held) return held;
    value_type made;
    made.kind = kind;
    made.type = keys;
    made.of = std::make_shared<const value_type>(*std::move(held));
    return made;
  };
  switch (from.value_case()) {
    case onnx::TypeProto::kTensorType: return read_tensor_type(from.tensor_type(), type_kind::tensor, owner);
    case onnx::TypeProto::kSparseTensorType:
      return read_tensor_type(from.sparse_tensor_type(), type_kind::sparse_tensor, owner);
    case onnx::TypeProto::kSequenceType:
      return inner(from.sequence_type().elem_type(), type_kind::sequence, dtype::undefined);
    case onnx::TypeProto::kOptionalType:
      return inner(from.optional_type().elem_type(), type_kind::optional, dtype::undefined);
    case onnx::TypeProto::kMapType: {
      result<dtype> keys = read_element(from.map_type().key_type());
      if (!keys) return keys.error();
      return inner(from.map_type().value_type(), type_kind::map, *keys);
    }
    case onnx::TypeProto::kOpaqueType: {
      value_type made;
      made.kind = type_kind::opaque;
      return made;
    }
    default: return value_type{};
  }
}

template <class Tensor>
bool rest_of_tensor_type(const Tensor& from, Tensor& rest) {
  bool any = !from.unknown_fields().empty();
  copy_unknown(from, rest);
  for (const auto& d : from.shape().dim()) any |= d.has_denotation() || !d.unknown_fields().empty();
  if (any)
    for (const auto& d : from.shape().dim()) {
      auto& kept = *rest.mutable_shape()->add_dim();
      if (d.has_denotation()) kept.set_denotation(d.denotation());
      copy_unknown(d, kept);
    }
  return any;
}

template <class Tensor>
void write_tensor_type(const value_type& type, const model& owner, Tensor& to) {
  to.set_elem_type(int(type.type));
  if (!type.shape) return to.clear_shape();
  auto& shape = *to.mutable_shape();
  while (std::size_t(shape.dim_size()) > type.shape->size()) shape.mutable_dim()->RemoveLast();
  for (std::size_t i = 0; i < type.shape->size(); ++i) {
    auto& d = std::size_t(shape.dim_size()) > i ? *shape.mutable_dim(int(i)) : *shape.add_dim();
    const dim& from = (*type.shape)[i];
    if (from.known()) d.set_dim_value(from.size);
    else if (from.symbol && from.symbol < owner.symbols.size()) d.set_dim_param(owner.symbols[from.symbol]);
  }
}

}  // namespace

dtype dtype_of_number(std::int64_t number) {
  return number > 0 && number < int(dtype::count) ? dtype(number) : dtype::undefined;
}

result<value_type> read_type(const onnx::TypeProto& from, model& owner, int depth) {
  if (depth > deepest_type)
    return failed(status_code::invalid_graph, "a type is nested more than {} deep", deepest_type);
  result<value_type> made = read_bare_type(from, owner, depth);
  if (made && from.has_denotation()) made->denotation = from.denotation();
  return made;
}

bool rest_of_type(const onnx::TypeProto& from, onnx::TypeProto& rest) {
  bool any = !from.unknown_fields().empty();
  copy_unknown(from, rest);
  switch (from.value_case()) {
    case onnx::TypeProto::kTensorType:
      return rest_of_tensor_type(from.tensor_type(), *rest.mutable_tensor_type()) || any;
    case onnx::TypeProto::kSparseTensorType:
      return rest_of_tensor_type(from.sparse_tensor_type(), *rest.mutable_sparse_tensor_type()) || any;
    case onnx::TypeProto::kSequenceType:
      return rest_of_type(from.sequence_type().elem_type(), *rest.mutable_sequence_type()->mutable_elem_type()) || any;
    case onnx::TypeProto::kOptionalType:
      return rest_of_type(from.optional_type().elem_type(), *rest.mutable_optional_type()->mutable_elem_type()) || any;
    case onnx::TypeProto::kMapType:
      return rest_of_type(from.map_type().value_type(), *rest.mutable_map_type()->mutable_value_type()) || any;
    case onnx::TypeProto::kOpaqueType: *rest.mutable_opaque_type() = from.opaque_type(); return true;
    default: return any;
  }
}

void write_type(const value_type& type, const model& owner, onnx::TypeProto& to) {
  if (!type.denotation.empty()) to.set_denotation(type.denotation);
  const value_type unknown;
  const value_type& of = type.of ? *type.of : unknown;
  switch (type.kind) {
    case type_kind::tensor: return write_tensor_type(type, owner, *to.mutable_tensor_type());
    case type_kind::sparse_tensor: return write_tensor_type(type, owner, *to.mutable_sparse_tensor_type());
    case type_kind::sequence: return write_type(of, owner, *to.mutable_sequence_type()->mutable_elem_type());
    case type_kind::optional: return write_type(of, owner, *to.mutable_optional_type()->mutable_elem_type());
    case type_kind::map:
      to.mutable_map_type()->set_key_type(int(type.type));
      return write_type(of, owner, *to.mutable_map_type()->mutable_value_type());
    case type_kind::unknown:
    case type_kind::opaque:  // what there is to say is in the rest
      return;
  }
}

std::string keep_dim_denotations(std::span<const std::string_view> by_dim) {
  onnx::ValueInfoProto rest;
  bool any = false;
  for (std::string_view words : by_dim) {
    auto& d = *rest.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
    if (!words.empty()) d.set_denotation(std::string{words}), any = true;
  }
  return any ? rest.SerializeAsString() : std::string{};
}

std::vector<std::string> dim_denotations_of(std::string_view unknown) {
  std::vector<std::string> made;
  onnx::ValueInfoProto rest;
  if (unknown.empty() || !rest.ParseFromArray(unknown.data(), int(unknown.size()))) return made;
  for (const auto& d : rest.type().tensor_type().shape().dim()) made.push_back(d.denotation());
  return made;
}

}  // namespace cameo::inline CAMEO_ABI
