#pragma once
#include <cameo/core/dim.hpp>
#include <cameo/core/value.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CAMEO_NAMESPACE {

/// The static type of a value, as in ONNX's TypeProto. Host only.
class value_type {
 public:
  type_kind kind = type_kind::unknown;
  dtype type = dtype::undefined;              // tensor, sparse_tensor: of elements; map: of keys
  std::optional<std::vector<dim>> shape;      // tensor, sparse_tensor: absent when even the rank is unknown
  std::shared_ptr<const value_type> element;  // sequence, optional: type of the element; map: type of the values
  std::string denotation;

  /// The type of a tensor of unknown rank, or of a tensor with this shape.
  CAMEO_API static value_type tensor(dtype type);
  CAMEO_API static value_type tensor(dtype type, std::vector<dim> shape);
  /// The type of a sequence, seq(element) in ONNX.
  CAMEO_API static value_type sequence(value_type element);
  /// The type of an optional, optional(element) in ONNX.
  CAMEO_API static value_type optional(value_type element);
  /// The type of a map, map(keys, values) in ONNX. Keys are strings or integers.
  CAMEO_API static value_type map(dtype keys, value_type values);

  bool is_tensor() const { return kind == type_kind::tensor; }
  /// The extents, when all dims are known.
  CAMEO_API std::optional<extents> fixed_shape() const;
  /// "tensor(float)[batch,3,224,224]", "seq(tensor(int64))". `symbols` has the names of symbols by number, as
  /// model::symbols(); without it they are "?".
  CAMEO_API std::string to_string(const std::vector<std::string>* symbols = nullptr) const;
};

}  // namespace CAMEO_NAMESPACE
