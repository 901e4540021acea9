#include "ort_reader.hpp"
#include "tensor_bytes.hpp"

#include <cameo/core/checked.hpp>

#include <fmt/ranges.h>

namespace cameo::inline CAMEO_ABI {
namespace {

using byte_span = std::span<const std::byte>;

constexpr std::size_t small_in_ort = 127;  // bytes up to which copying is cheaper than keeping track of pages
constexpr std::uint64_t most_dense_bytes = std::uint64_t{1} << 31;

/// Dims in the order that the format checks them: there, not negative, not too many bytes.
status read_dims(const ort::vector_view& dims, std::string_view name, extents& shape, std::int64_t& count) {
  if (dims.size() > max_rank)
    return failed(status_code::not_implemented, "tensor '{}': rank {} is more than cameo's limit of {}", name,
                  dims.size(), max_rank);
  for (std::size_t i = 0; i < dims.size(); ++i) shape.push_back(dims.number<std::int64_t>(i));
  if (!shape.checked_count(count))
    return failed(status_code::invalid_argument,
                  "tensor '{}': Tensor.dims [{}] must be 0 or more, and their product fit 63 bits", name,
                  fmt::join(shape.begin(), shape.end(), ","));
  return {};
}

/// The n-th index of a sparse tensor, whatever its type.
bool index_at(const value& indices, std::size_t n, std::int64_t& to) {
  const auto load = [&](auto number) {
    std::memcpy(&number, static_cast<const std::byte*>(indices.data) + n * sizeof number, sizeof number);
    to = number;
    return true;
  };
  switch (indices.type) {
    case dtype::i8: return load(std::int8_t{});
    case dtype::i16: return load(std::int16_t{});
    case dtype::i32: return load(std::int32_t{});
    case dtype::i64: return load(std::int64_t{});
    default: return false;
  }
}

}  // namespace

result<dtype> ort_element_type(std::int32_t number) {
  if (number == 0) return dtype::undefined;
  if (number > 0 && number < std::int32_t(dtype::f6e2m3)) return dtype(number);
  return failed(status_code::invalid_argument, "element type {} is none of the format's (1 to {})", number,
                int(dtype::f6e2m3) - 1);
}

result<value> ort_tensors::read(const ort::table_view& t, std::string_view what) {
  const std::string_view name = t.text(ort::tensor::name).empty() ? what : t.text(ort::tensor::name);
  if (!t.has(ort::tensor::dims)) return failed(status_code::fail, "tensor '{}': Tensor.dims is missing", name);
  value made{value_kind::tensor};
  std::int64_t count = 0;
  if (status s = read_dims(t.vector(ort::tensor::dims), name, made.shape, count); !s) return s;
  result<dtype> type = ort_element_type(t.number<std::int32_t>(ort::tensor::data_type));
  if (!type) return std::move(type).error().in(fmt::format("tensor '{}': Tensor.data_type", name));
  if (*type == dtype::undefined)
    return failed(status_code::invalid_argument, "tensor '{}': Tensor.data_type is undefined", name);
  made.type = *type;
  std::uint64_t bytes = 0;
  if (!checked_bytes(made.type, std::uint64_t(count), bytes) || bytes > std::uint64_t(INT64_MAX))
    return failed(status_code::invalid_argument, "tensor '{}': its size in bytes does not fit 63 bits", name);
  if (t.number<std::int64_t>(ort::tensor::external_data_offset, -1) >= 0)
    return failed(
        status_code::fail,
        "tensor '{}': Tensor.external_data_offset: data in another file belongs to checkpoints, not to models", name);
  if (made.type == dtype::string) {
    result<value> strings = read_strings(t, made, std::size_t(count));
    return strings ? std::move(strings) : std::move(strings).error().in(fmt::format("tensor '{}'", name));
  }
  if (!t.has(ort::tensor::raw_data)) return failed(status_code::fail, "tensor '{}': Tensor.raw_data is missing", name);
  const byte_span data = t.vector(ort::tensor::raw_data).bytes();
  if (data.size() != bytes)
    return failed(status_code::fail, "tensor '{}' {}[{}]: Tensor.raw_data has {} bytes, needs {}", name,
                  row_of(made.type).name, fmt::join(made.shape.begin(), made.shape.end(), ","), data.size(), bytes);
  return place(made, data);
}

result<value> ort_tensors::read_strings(const ort::table_view& t, value made, std::size_t count) {
  if (!t.has(ort::tensor::string_data)) return failed(status_code::fail, "Tensor.string_data is missing");
  const ort::vector_view strings = t.vector(ort::tensor::string_data);
  if (strings.size() != count)
    return failed(status_code::fail, "Tensor.string_data has {} entries, needs {}", strings.size(), count);
  result<void*> data = allocate_tensor(memory, budget, count * sizeof(std::string_view));
  if (!data) return data.error();
  auto* const texts = static_cast<std::string_view*>(*data);
  for (std::size_t i = 0; i < count; ++i) std::construct_at(texts + i, strings.text(i));
  made.data = texts;
  return made;
}

result<value> ort_tensors::place(value made, byte_span bytes) {
  return place_tensor(memory, budget, made, bytes, true, small_in_ort, 0);
}

// --- sparse tensors ---

status ort_tensors::scatter(const value& values, const value& indices, value& dense, std::string_view name) {
  const std::size_t width = row_of(dense.type).bits / 8, nnz = std::size_t(values.shape.count());
  const std::size_t rank = indices.shape.rank() == 2 ? dense.shape.rank() : 1;
  for (std::size_t n = 0; n < nnz; ++n) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::int64_t end = indices.shape.rank() == 2 ? dense.shape[axis] : dense.shape.count();
      std::int64_t index = 0;
      if (!index_at(indices, n * rank + axis, index) || index < 0 || index >= end)
        return failed(status_code::fail, "sparse tensor '{}': SparseTensor.indices: {} is outside 0 to {}", name, index,
                      end - 1);
      at = at * end + index;
    }
    std::memcpy(static_cast<std::byte*>(dense.data) + std::size_t(at) * width,
                static_cast<const std::byte*>(values.data) + n * width, width);
  }
  return {};
}

result<value> ort_tensors::read_sparse(const ort::table_view& sparse, std::string_view name) {
  const auto lacks = [&](std::string_view field) {
    return failed(status_code::fail, "sparse tensor '{}': SparseTensor.{} is missing", name, field);
  };
  if (!sparse.has(ort::sparse_tensor::indices)) return lacks("indices");
  if (!sparse.has(ort::sparse_tensor::dims)) return lacks("dims");
  result<value> values = read(sparse.table(ort::sparse_tensor::values), name);
  if (!values) return values;
  result<value> indices = read(sparse.table(ort::sparse_tensor::indices), "indices");
  if (!indices) return std::move(indices).error().in(fmt::format("sparse tensor '{}'", name));
  value dense{value_kind::tensor, values->type};
  std::int64_t count = 0;
  if (status s = read_dims(sparse.vector(ort::sparse_tensor::dims), name, dense.shape, count); !s) return s;

  constexpr type_mask integers = mask_of<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
  if (!(bit_of(indices->type) & integers))
    return failed(status_code::invalid_graph, "sparse tensor '{}': SparseTensor.indices are {}, need signed integers",
                  name, row_of(indices->type).name);
  const std::int64_t nnz = values->shape.rank() == 1 ? values->shape[0] : -1;
  const extents flat{nnz}, rows{nnz, std::int64_t(dense.shape.rank())};
  if (nnz < 0 || (indices->shape != flat && indices->shape != rows))
    return failed(status_code::invalid_graph,
                  "sparse tensor '{}': SparseTensor.indices [{}] for values [{}]: one index per value, or a row of {}",
                  name, fmt::join(indices->shape.begin(), indices->shape.end(), ","),
                  fmt::join(values->shape.begin(), values->shape.end(), ","), dense.shape.rank());
  std::uint64_t bytes = 0;
  if (row_of(dense.type).bits % 8 != 0 || !checked_bytes(dense.type, std::uint64_t(count), bytes) ||
      bytes > most_dense_bytes)
    return failed(status_code::invalid_argument, "sparse tensor '{}': it is too large when dense, or packed", name);
  result<void*> data = allocate_tensor(memory, budget, std::size_t(bytes));
  if (!data) return data.error();
  dense.data = *data;
  if (bytes) std::memset(dense.data, 0, std::size_t(bytes));
  if (status s = scatter(*values, *indices, dense, name); !s) return s;
  return dense;
}

// --- types ---

namespace {

result<value_type> tensor_of(const ort::table_view& from, model& owner) {
  value_type made;
  made.kind = type_kind::tensor;
  result<dtype> element = ort_element_type(from.number<std::int32_t>(ort::tensor_type::elem_type));
  if (!element) return std::move(element).error().in("TensorTypeAndShape.elem_type");
  made.type = *element;
  if (!from.has(ort::tensor_type::shape)) return made;
  const ort::vector_view dims = from.table(ort::tensor_type::shape).vector(ort::shape::dim);
  if (dims.size() > max_rank)
    return failed(status_code::not_implemented, "rank {} of a type is more than cameo's limit of {}", dims.size(),
                  max_rank);
  made.shape.emplace();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const ort::table_view d = dims.table(i).table(ort::dimension::value);
    const auto kind = d.number<std::int8_t>(ort::dimension_value::dim_type);
    const auto size = d.number<std::int64_t>(ort::dimension_value::dim_value);
    if (kind < 0 || kind > 2)
      return failed(status_code::fail, "DimensionValue.dim_type of dim {} is {}, none of 0 to 2", i, int(kind));
    if (kind == 2 && !d.has(ort::dimension_value::dim_param))
      return failed(status_code::fail, "DimensionValue.dim_param of dim {} is missing", i);
    const std::string_view symbol = d.text(ort::dimension_value::dim_param);
    if (kind == 1 && size >= 0) made.shape->push_back(dim::of(size));  // ONNX Runtime writes -1 for unknown ones, too
    else if (kind == 2 && !symbol.empty()) made.shape->push_back(dim::named(owner.symbol(symbol)));
    else made.shape->push_back({});
  }
  return made;
}

/// A sequence or a map of what `held` says.
result<value_type> holder_of(type_kind kind, dtype keys, const ort::table_view& held, model& owner,
                             std::string_view field) {
  if (!held) return failed(status_code::fail, "{} is missing", field);
  result<value_type> of = read_ort_type(held, owner);
  if (!of) return std::move(of).error().in(field);
  value_type made;
  made.kind = kind;
  made.type = keys;
  made.of = std::make_shared<const value_type>(*std::move(of));
  return made;
}

result<value_type> bare_type(const ort::table_view& from, model& owner) {
  const auto member = from.number<std::uint8_t>(ort::type_info::value_type);
  const ort::table_view value = from.table(ort::type_info::value);
  if (!value) return failed(status_code::fail, "TypeInfo.value is missing");
  switch (member) {
    case ort::type_info_value::tensor_type: return tensor_of(value, owner);
    case ort::type_info_value::sequence_type:
      return holder_of(type_kind::sequence, dtype::undefined, value.table(ort::sequence_type::elem_type), owner,
                       "SequenceType.elem_type");
    case ort::type_info_value::map_type: {
      result<dtype> keys = ort_element_type(value.number<std::int32_t>(ort::map_type::key_type));
      if (!keys) return std::move(keys).error().in("MapType.key_type");
      return holder_of(type_kind::map, *keys, value.table(ort::map_type::value_type), owner, "MapType.value_type");
    }
    default:
      return failed(status_code::fail, "TypeInfo.value_type is {}: neither a tensor (1), a sequence (2) nor a map (3)",
                    unsigned(member));
  }
}

}  // namespace

result<value_type> read_ort_type(const ort::table_view& from, model& owner) {
  result<value_type> made = bare_type(from, owner);
  if (made) made->denotation = from.text(ort::type_info::denotation);
  return made;
}

}  // namespace cameo::inline CAMEO_ABI
