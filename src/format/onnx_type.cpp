#include "../graph/oddities.hpp"
#include "dim_denotations.hpp"
#include "onnx_reading.hpp"

#include <cameo/os/heap_arena.hpp>

namespace CAMEO_NAMESPACE {
namespace {

constexpr int deepest_type = 32;  // sequences of sequences of ...

result<dtype> read_element(std::int64_t number) {
  if (number == 0) return dtype::undefined;
  const dtype type = dtype_of_number(number);
  if (type == dtype::undefined)
    return failed(status_code::invalid_graph, "element type {} is not one of ONNX's (1 to {})", number,
                  int(dtype::count) - 1);
  return type;
}

status read_shape(const wire::shape_message& from, model& owner, value_type& type) {
  if (from.dim.size() > max_rank)
    return failed(status_code::not_implemented, "rank {} of a type is more than cameo's limit of {}", from.dim.size(),
                  max_rank);
  std::vector<dim> dims;
  dims.reserve(from.dim.size());
  for (const wire::dim_message& d : from.dim) {
    const bool is_negative = d.dim_value && *d.dim_value < 0;
    if (is_negative)
      tolerate(owner, oddity::negative_dim, "dim {} of a declared type is {}; it is treated as unknown", dims.size(),
               *d.dim_value);
    if (d.dim_value && !is_negative) dims.push_back(dim::fixed(*d.dim_value));
    else if (!d.dim_param.empty()) dims.push_back(dim::named(owner.symbol(d.dim_param)));
    else dims.push_back({});
  }
  type.shape = std::move(dims);
  return status_code::ok;
}

template <class Tensor>
result<value_type> read_tensor_type(const Tensor& from, type_kind kind, model& owner) {
  value_type made;
  made.kind = kind;
  result<dtype> element = read_element(from.elem_type);
  if (!element) return element.error();
  made.type = *element;
  if (from.shape)
    if (status s = read_shape(*from.shape, owner, made); !s) return s;
  return made;
}

result<value_type> read_bare_type(const wire::type_message& from, model& owner, int depth) {
  const auto inner = [&](const wire::type_message* of, type_kind kind, dtype keys) -> result<value_type> {
    result<value_type> held = read_type(of ? *of : wire::type_message{}, owner, depth + 1);
    if (!held) return held;
    value_type made;
    made.kind = kind;
    made.type = keys;
    made.element = std::make_shared<const value_type>(*std::move(held));
    return made;
  };
  if (from.tensor_type) return read_tensor_type(*from.tensor_type, type_kind::tensor, owner);
  if (from.sparse_tensor_type) return read_tensor_type(*from.sparse_tensor_type, type_kind::sparse_tensor, owner);
  if (from.sequence_type) return inner(from.sequence_type->elem_type, type_kind::sequence, dtype::undefined);
  if (from.optional_type) return inner(from.optional_type->elem_type, type_kind::optional, dtype::undefined);
  if (from.map_type) {
    result<dtype> keys = read_element(from.map_type->key_type);
    return keys ? inner(from.map_type->value_type, type_kind::map, *keys) : result<value_type>{keys.error()};
  }
  value_type made;
  if (from.opaque_type) made.kind = type_kind::opaque;
  return made;
}

template <class Tensor>
std::string rest_of_tensor_type(const Tensor& from) {
  std::string rest, dims;
  wire::put(rest, from.rest);
  bool any = false;
  if (from.shape)
    for (const wire::dim_message& d : from.shape->dim) {
      std::string kept;
      wire::put_if_there(kept, 3, d.denotation);
      wire::put(kept, d.rest);
      any |= !kept.empty();
      wire::put(dims, 1, kept);
    }
  if (any) wire::put(rest, 2, dims);
  return rest;
}

}  // namespace

dtype dtype_of_number(std::int64_t number) {
  return number > 0 && number < int(dtype::count) ? dtype(number) : dtype::undefined;
}

result<value_type> read_type(const wire::type_message& from, model& owner, int depth) {
  if (depth > deepest_type)
    return failed(status_code::invalid_graph, "a type is nested more than {} deep", deepest_type);
  result<value_type> made = read_bare_type(from, owner, depth);
  if (made) made->denotation = from.denotation;
  return made;
}

std::string rest_of_type(const wire::type_message& from) {
  std::string rest, inside;
  wire::put(rest, from.rest);
  const auto held = [&](std::uint32_t number, const wire::type_message* of) {
    if (of) inside = rest_of_type(*of);
    if (std::string all; !inside.empty()) wire::put(all, number, inside), inside = std::move(all);
  };
  if (from.tensor_type) inside = rest_of_tensor_type(*from.tensor_type);
  if (from.sparse_tensor_type) inside = rest_of_tensor_type(*from.sparse_tensor_type);
  if (from.sequence_type) held(1, from.sequence_type->elem_type);
  if (from.optional_type) held(1, from.optional_type->elem_type);
  if (from.map_type) held(2, from.map_type->value_type);
  if (from.opaque_type) wire::put(inside, from.opaque_type->rest);
  if (!inside.empty() || from.opaque_type) wire::put(rest, from.chosen, inside);
  return rest;
}

std::string keep_dim_denotations(std::span<const std::string_view> by_dim) {
  std::string dims;
  bool any = false;
  for (std::string_view words : by_dim) {
    std::string d;
    if (!words.empty()) wire::put(d, 3, words), any = true;
    wire::put(dims, 1, d);
  }
  if (!any) return {};
  std::string shape, tensor, info;
  wire::put(shape, 2, dims);
  wire::put(tensor, 1, shape);
  wire::put(info, 2, tensor);
  return info;
}

std::vector<std::string> onnx_format::dim_denotations(std::string_view unknown) {
  std::vector<std::string> made;
  wire::value_info_message rest;
  detail::heap_arena memory;
  if (!decode(std::as_bytes(std::span{unknown}), "", {100, 0}, {}, memory, rest)) return made;
  if (rest.type && rest.type->tensor_type && rest.type->tensor_type->shape)
    for (const wire::dim_message& d : rest.type->tensor_type->shape->dim) made.emplace_back(d.denotation);
  return made;
}

}  // namespace CAMEO_NAMESPACE
