#pragma once
#include <cameo/core/value.hpp>

namespace CAMEO_NAMESPACE {

// clang-format off
/// Numbered as ONNX's AttributeProto.AttributeType.
enum class attribute_kind : std::uint8_t {
  undefined, f, i, s, t, g, floats, ints, strings, tensors, graphs, sparse_tensor, sparse_tensors, type_proto,
  type_protos, count
};
namespace detail {
// clang-format on
/// The names of the kinds, for messages.
inline constexpr struct attribute_kind_row {
  attribute_kind id;
  char name[16];
} attribute_kind_rows[] = {
    {attribute_kind::undefined, "undefined"},
    {attribute_kind::f, "float"},
    {attribute_kind::i, "int"},
    {attribute_kind::s, "string"},
    {attribute_kind::t, "tensor"},
    {attribute_kind::g, "graph"},
    {attribute_kind::floats, "floats"},
    {attribute_kind::ints, "ints"},
    {attribute_kind::strings, "strings"},
    {attribute_kind::tensors, "tensors"},
    {attribute_kind::graphs, "graphs"},
    {attribute_kind::sparse_tensor, "sparse_tensor"},
    {attribute_kind::sparse_tensors, "sparse_tensors"},
    {attribute_kind::type_proto, "type_proto"},
    {attribute_kind::type_protos, "type_protos"},
};
}  // namespace detail
static_assert(detail::complete_and_in_order(detail::attribute_kind_rows));

class value_type;  // op/value_type.hpp

/// An attribute of a node, by reference; the model owns what it refers to. Only the member of its kind is meaningful.
/// Tensors are values in host memory (sparse ones too). A graph is an index: the n-th subgraph of the node.
struct attribute {
  std::string_view name;
  attribute_kind kind = attribute_kind::undefined;
  float f = 0;
  std::int64_t i = 0;       // int; graph: index among the node's subgraphs
  std::string_view s = {};  // bytes, not necessarily UTF-8
  std::span<const float> floats = {};
  std::span<const std::int64_t> ints = {};  // ints; graphs: indices among the node's subgraphs
  std::span<const std::string_view> strings = {};
  std::span<const value> tensors = {};  // tensor and sparse_tensor: one
  std::span<const value_type* const> types = {};
  std::string_view ref_attr_name = {};  // inside a function body: the caller's attribute that is used here
  std::string_view doc_string = {};
  std::string_view unknown = {};  // fields of the file that cameo does not interpret; a writer writes them back
};

namespace detail {
/// The attribute with this name, or null.
constexpr const attribute* find_attribute(std::span<const attribute> attributes, std::string_view name) {
  for (const attribute& a : attributes)
    if (a.name == name) return &a;
  return nullptr;
}
/// The attribute with this name and kind, or null. An attribute of another kind counts as absent: there is none in a
/// checked model.
constexpr const attribute* find_attribute(std::span<const attribute> node, std::string_view name, attribute_kind kind) {
  const attribute* found = find_attribute(node, name);
  return found && found->kind == kind ? found : nullptr;
}
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
