// Writes types and tensors of an ORT file.
#include <cameo/format/onnx.hpp>

#include "dim_denotations.hpp"
#include "ort_writer.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

using fields = ort_builder::fields;

}  // namespace

// --- types ---

status ort_writer::write_tensor_type(ref from, const value_type& type, const detail::graph_value& value) {
  const auto t = builder_.add(from, fields{}
                                        .number(ort::tensor_type::elem_type, std::int32_t(type.type))
                                        .offset(ort::tensor_type::shape, type.shape.has_value()));
  if (!type.shape) return {};
  const auto shape = builder_.add(t[ort::tensor_type::shape], fields{}.offset(ort::shape::dim));
  const auto dims = builder_.tables(shape[ort::shape::dim], type.shape->size());
  const std::vector<std::string>& denotations = denotations_.emplace_back(onnx_format::dim_denotations(value.unknown));
  for (std::size_t i = 0; i < type.shape->size(); ++i) {
    const dim d = (*type.shape)[i];
    const bool is_named = !d.known() && d.symbol != 0 && d.symbol < model_.symbols.size();
    const bool is_said = i < denotations.size() && !denotations[i].empty();
    const auto dimension =
        builder_.add(dims[i], fields{}.offset(ort::dimension::value).offset(ort::dimension::denotation, is_said));
    if (is_said) builder_.text(dimension[ort::dimension::denotation], denotations[i]);
    const auto v = builder_.add(dimension[ort::dimension::value],
                                fields{}
                                    .number(ort::dimension_value::dim_type, std::int8_t(d.known()  ? 1
                                                                                        : is_named ? 2
                                                                                                   : 0))
                                    .number(ort::dimension_value::dim_value, d.known() ? d.size : std::int64_t{0})
                                    .offset(ort::dimension_value::dim_param, is_named));
    if (!is_named) continue;
    if (status s = write_name(v[ort::dimension_value::dim_param], "the symbol", model_.symbols[d.symbol]); !s) return s;
  }
  return {};
}

status ort_writer::write_type(ref from, const value_type& type, const detail::graph_value& value) {
  const auto member = [&](ort::type_info_value::member which) {
    const auto t = builder_.add(from, fields{}
                                          .offset(ort::type_info::denotation, !type.denotation.empty())
                                          .number(ort::type_info::value_type, std::uint8_t(which))
                                          .offset(ort::type_info::value));
    if (!type.denotation.empty()) builder_.text(t[ort::type_info::denotation], type.denotation);
    return t[ort::type_info::value];
  };
  switch (type.kind) {
    case type_kind::tensor:
    case type_kind::sparse_tensor:  // only constants are sparse; their readers get a dense tensor
      if (type.type == dtype::undefined) break;
      return write_tensor_type(member(ort::type_info_value::tensor_type), type, value);
    case type_kind::sequence:
      if (!type.element) break;
      return write_type(builder_.add(member(ort::type_info_value::sequence_type),
                                     fields{}.offset(ort::sequence_type::elem_type))[ort::sequence_type::elem_type],
                        *type.element, value);
    case type_kind::map: {
      if (!type.element) break;
      const auto map = builder_.add(
          member(ort::type_info_value::map_type),
          fields{}.number(ort::map_type::key_type, std::int32_t(type.type)).offset(ort::map_type::value_type));
      return write_type(map[ort::map_type::value_type], *type.element, value);
    }
    case type_kind::optional:
      return not_in_ort("'{}' is of an optional type, {}, which an ORT file can't hold", value.name, type.to_string());
    case type_kind::unknown: break;
    case type_kind::opaque: return not_in_ort("'{}' is of an opaque type, which an ORT file can't hold", value.name);
  }
  return not_in_ort("the type of '{}' is not known; an ORT file needs all of them", value.name);
}

// --- tensors ---

status ort_writer::write_tensor(ref from, const value& v, std::string_view name) {
  if (v.kind != value_kind::tensor || v.memory != 0)
    return not_in_ort("'{}' is not a tensor in host memory: it can't be written", name);
  if (v.type >= dtype::f6e2m3)
    return not_in_ort("tensor '{}': an ORT file can't hold {}", name, detail::row_of(v.type).name);
  const bool is_text = v.type == dtype::string;
  const auto t = builder_.add(from, fields{}
                                        .offset(ort::tensor::name, !name.empty())
                                        .offset(ort::tensor::dims)
                                        .number(ort::tensor::data_type, std::int32_t(v.type))
                                        .offset(ort::tensor::raw_data, !is_text)
                                        .offset(ort::tensor::string_data, is_text));
  if (!name.empty()) builder_.text(t[ort::tensor::name], name);
  builder_.numbers(t[ort::tensor::dims], v.shape.dims());
  if (is_text) builder_.texts(t[ort::tensor::string_data], v.as_unchecked<std::string_view>().span());
  else builder_.weights(t[ort::tensor::raw_data], {static_cast<const std::byte*>(v.data), v.bytes()});
  return {};
}

namespace {

/// Flat positions in the narrowest signed type that can represent the largest, as ONNX Runtime writes them.
template <class T>
std::vector<std::byte> narrowed(std::span<const std::int64_t> from) {
  std::vector<std::byte> made(from.size() * sizeof(T));
  for (std::size_t i = 0; i < from.size(); ++i) {
    const T item = T(from[i]);
    std::memcpy(made.data() + i * sizeof item, &item, sizeof item);
  }
  return made;
}

}  // namespace

status ort_writer::write_sparse(ref from, const value& v, std::string_view name) {
  if (v.parts.size() != 2 || v.parts[1].type != dtype::i64) return not_in_ort("sparse tensor '{}' is damaged", name);
  const auto* const rows = static_cast<const std::byte*>(v.parts[1].data);
  const std::size_t rank = v.parts[1].shape.rank() == 2 ? v.shape.rank() : 1;
  std::vector<std::int64_t> flat(std::size_t(v.parts[0].shape.count()), 0);
  std::int64_t largest = 0;
  for (std::size_t n = 0; n < flat.size(); ++n) {
    for (std::size_t axis = 0; axis < rank; ++axis) {
      std::int64_t index = 0;
      std::memcpy(&index, rows + (n * rank + axis) * sizeof index, sizeof index);
      flat[n] = flat[n] * (v.parts[1].shape.rank() == 2 ? v.shape[axis] : 1) + index;
    }
    largest = std::max(largest, flat[n]);
  }
  value indices{value_kind::tensor, dtype::i64, 0, extents{std::int64_t(flat.size())}};
  if (largest <= INT8_MAX) indices.type = dtype::i8, made_.push_back(narrowed<std::int8_t>(flat));
  else if (largest <= INT16_MAX) indices.type = dtype::i16, made_.push_back(narrowed<std::int16_t>(flat));
  else if (largest <= INT32_MAX) indices.type = dtype::i32, made_.push_back(narrowed<std::int32_t>(flat));
  else made_.push_back(narrowed<std::int64_t>(flat));
  indices.data = made_.back().data();
  const auto t = builder_.add(
      from,
      fields{}.offset(ort::sparse_tensor::values).offset(ort::sparse_tensor::indices).offset(ort::sparse_tensor::dims));
  builder_.numbers(t[ort::sparse_tensor::dims], v.shape.dims());
  if (status s = write_tensor(t[ort::sparse_tensor::values], v.parts[0], name); !s) return s;
  return write_tensor(t[ort::sparse_tensor::indices], indices, {});
}

}  // namespace CAMEO_NAMESPACE
