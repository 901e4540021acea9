#include "ort_constant.hpp"

#include <cameo/core/booleans.hpp>
#include <cameo/core/elements.hpp>

#include "ort_schema.hpp"

namespace CAMEO_NAMESPACE::ort {
namespace {

using byte_span = std::span<const std::byte>;

constexpr std::uint64_t most_dense_bytes = (std::uint64_t{1} << 31) - 1;

/// Reads dims, with the format's checks in order: present, not too many, not negative, their product not too large.
status read_dims(const table_view& from, std::size_t slot, std::string_view name, extents& shape, std::int64_t& count) {
  if (!from.has(slot)) return wrong(status_code::fail, "tensor '", name, "': dims are missing");
  const vector_view dims = from.vector(slot);
  if (dims.size() > max_rank)
    return wrong(status_code::not_implemented, "tensor '", name, "': Tensor.dims are ", std::int64_t(dims.size()),
                 "; at most 12 are taken");
  for (std::size_t i = 0; i < dims.size(); ++i) shape.push_back(dims.number<std::int64_t>(i));
  if (!shape.checked_count(count))
    return wrong(status_code::invalid_argument, "tensor '", name,
                 "': Tensor.dims must be 0 or more, and their product fit 63 bits");
  return {};
}

status too_much(std::uint64_t bytes, std::size_t most) {
  return wrong(status_code::out_of_memory, std::int64_t(bytes), " bytes more would pass the limit of ",
               std::int64_t(most), " that are left (load_limits.model_bytes)");
}

/// "float[2,3]", for messages.
short_text shape_words(const value& v) {
  short_text words;
  if constexpr (status::has_words) {
    words << detail::row_of(v.type).name << "[";
    for (std::size_t i = 0; i < v.shape.rank(); ++i) words << (i ? "," : "") << v.shape[i];
    words << "]";
  }
  return words;
}

result<value> read_strings(const table_view& t, value made, std::int64_t count, arena& memory, std::size_t most) {
  if (!t.has(tensor::string_data)) return wrong(status_code::fail, "Tensor.string_data is missing");
  const vector_view strings = t.vector(tensor::string_data);
  if (std::int64_t(strings.size()) != count)
    return wrong(status_code::fail, "Tensor.string_data has ", std::int64_t(strings.size()), " entries, needs ", count);
  if (strings.size() > most / sizeof(std::string_view))
    return too_much(strings.size() * sizeof(std::string_view), most);
  const result<std::span<std::string_view>> texts = read_texts(strings, memory);
  if (!texts) return texts.error();
  made.data = texts->data();
  return made;
}

/// The n-th index of a sparse tensor, of any integer type.
bool index_at(const value& indices, std::size_t n, std::int64_t& to) {
  using types = detail::element_set<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
  return types::visit(indices.type, false, [&]<class T>(std::type_identity<T>) {
    to = detail::element_at<T>(indices, n);
    return true;
  });
}

status scatter(const value& values, const value& indices, value& dense) {
  const std::size_t width = bits_of(dense.type) / 8, nnz = std::size_t(values.shape.count());
  const bool by_rows = indices.shape.rank() == 2;
  for (std::size_t n = 0, rank = by_rows ? dense.shape.rank() : 1; n < nnz; ++n) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::int64_t end = by_rows ? dense.shape[axis] : dense.shape.count();
      std::int64_t index = 0;
      if (!index_at(indices, n * rank + axis, index) || index < 0 || index >= end)
        return wrong(status_code::fail, "SparseTensor.indices: ", index, " is outside 0 to ", end - 1);
      at = at * end + index;
    }
    std::memcpy(static_cast<std::byte*>(dense.data) + std::size_t(at) * width,
                static_cast<const std::byte*>(values.data) + n * width, width);
  }
  return {};
}

}  // namespace

result<const void*> read_numbers(const vector_view& from, std::size_t width, arena& memory) {
  const void* const at = from.bytes().data();
  if (reinterpret_cast<std::uintptr_t>(at) % width == 0) return at;
  void* const copy = memory.allocate(from.size() * width, width);
  if (!copy) return status_code::out_of_memory;
  return static_cast<const void*>(std::memcpy(copy, at, from.size() * width));
}

result<std::span<std::string_view>> read_texts(const vector_view& from, arena& memory) {
  result<std::span<std::string_view>> made = memory.take<std::string_view>(from.size());
  for (std::size_t i = 0; made && i < from.size(); ++i) (*made)[i] = from.text(i);
  return made;
}

result<value> read_constant(const table_view& t, std::string_view what, arena& memory, std::size_t most) {
  const std::string_view own_name = t.text(tensor::name), name = own_name.empty() ? what : own_name;
  value made{value_kind::tensor};
  std::int64_t count = 0;
  if (status s = read_dims(t, tensor::dims, name, made.shape, count); !s) return s;
  if (!element_type_of(t.number<std::int32_t>(tensor::data_type), made.type) || made.type == dtype::undefined)
    return wrong(status_code::invalid_argument, "tensor '", name, "': Tensor.data_type is ",
                 std::int64_t(t.number<std::int32_t>(tensor::data_type)), ", which no element type has");
  std::uint64_t bytes = 0;
  if (!detail::checked_bytes(made.type, std::uint64_t(count), bytes) || bytes > std::uint64_t(INT64_MAX))
    return wrong(status_code::invalid_argument, "tensor '", name, "': its size in bytes does not fit 63 bits");
  if (t.number<std::int64_t>(tensor::external_data_offset, -1) >= 0)
    return wrong(status_code::fail, "tensor '", name,
                 "': Tensor.external_data_offset: data in another file belongs to checkpoints, not to models");
  if (made.type == dtype::string) {
    result<value> strings = read_strings(t, made, count, memory, most);
    if (strings) return strings;
    return std::move(strings).error().in(name);
  }
  if (!t.has(tensor::raw_data)) return wrong(status_code::fail, "tensor '", name, "': Tensor.raw_data is missing");
  const byte_span data = t.vector(tensor::raw_data).bytes();
  if (data.size() != bytes)
    return wrong(status_code::fail, "tensor '", name, "' ", shape_words(made), ": Tensor.raw_data has ",
                 std::int64_t(data.size()), " bytes, needs ", std::int64_t(bytes));
  made.data = const_cast<std::byte*>(data.data());
  return with_booleans(made, memory);
}

result<value> read_sparse_constant(const table_view& sparse, std::string_view name, arena& memory, std::size_t most) {
  const auto refuse = [&](status_code code, std::string_view why) {
    return wrong(code, "sparse tensor '", name, "': ", why);
  };
  if (!sparse.has(sparse_tensor::indices)) return refuse(status_code::fail, "SparseTensor.indices is missing");
  result<value> values = read_constant(sparse.table(sparse_tensor::values), name, memory, most);
  if (!values) return values;
  result<value> indices = read_constant(sparse.table(sparse_tensor::indices), name, memory, most);
  if (!indices) return indices;
  value dense{value_kind::tensor, values->type};
  std::int64_t count = 0;
  if (status s = read_dims(sparse, sparse_tensor::dims, name, dense.shape, count); !s) return s;

  const std::int64_t nnz = values->shape.rank() == 1 ? values->shape[0] : -1;
  const extents flat{nnz}, rows{nnz, std::int64_t(dense.shape.rank())};
  constexpr detail::type_mask integers = mask_of<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
  if (!(detail::bit_of(indices->type) & integers))
    return refuse(status_code::invalid_graph, "SparseTensor.indices are not signed integers");
  if (nnz < 0 || (indices->shape != flat && indices->shape != rows))
    return refuse(status_code::invalid_graph, "SparseTensor.indices: one per value is needed, or a row of them");
  std::uint64_t bytes = 0;
  if (bits_of(dense.type) % 8 != 0 || dense.type == dtype::string ||
      !detail::checked_bytes(dense.type, std::uint64_t(count), bytes) || bytes > most_dense_bytes)
    return refuse(status_code::invalid_argument, "it is too large when dense, packed, or of strings");
  if (bytes > most) return too_much(bytes, most).in(name);
  dense.data = memory.allocate(std::size_t(bytes), 16);
  if (!dense.data) return refuse(status_code::out_of_memory, "no memory for it when dense");
  if (bytes) std::memset(dense.data, 0, std::size_t(bytes));
  if (status s = scatter(*values, *indices, dense); !s) return std::move(s).in(name);
  return dense;
}

}  // namespace CAMEO_NAMESPACE::ort
