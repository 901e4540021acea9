#include <cameo/core/checked.hpp>
#include <cameo/graph/model.hpp>

#include <algorithm>
#include <cstring>

#include "messages.hpp"
#include "types.hpp"

namespace CAMEO_NAMESPACE {
namespace {

/// The most memory that a file may use for one constant. A few bytes of a file can describe a large dense tensor.
constexpr std::uint64_t max_dense_bytes = std::uint64_t{1} << 31;

/// Computes the row-major position of the n-th entry; returns false if an index is out of range.
bool position_of(const value& sparse, std::size_t n, std::uint64_t count, std::uint64_t& at) {
  const value& indices = sparse.parts[1];
  const auto* const all = static_cast<const std::int64_t*>(indices.data);
  if (indices.shape.rank() == 1) {
    at = std::uint64_t(all[n]);
    return all[n] >= 0 && at < count;
  }
  const std::size_t rank = sparse.shape.rank();
  at = 0;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::int64_t i = all[n * rank + axis];
    if (i < 0 || i >= sparse.shape[axis]) return false;
    at = at * std::uint64_t(sparse.shape[axis]) + std::uint64_t(i);
  }
  return true;
}

/// True for indices of type int64 and of shape [nnz] or [nnz, rank].
bool has_valid_indices(const value& sparse, std::size_t nnz) {
  const value& indices = sparse.parts[1];
  const std::size_t rank = indices.shape.rank();
  if (indices.type != dtype::i64 || (rank != 1 && rank != 2) || std::size_t(indices.shape[0]) != nnz) return false;
  return rank == 1 || std::size_t(indices.shape[1]) == sparse.shape.rank();
}

}  // namespace

result<value> dense_form(model& m, const value& sparse, std::string_view what) {
  const auto bad = [&](std::string_view why) { return failed(status_code::invalid_graph, "{} {}", what, why); };
  if (sparse.kind != value_kind::sparse_tensor || sparse.parts.size() != 2) return bad("is not a sparse tensor");
  const value& values = sparse.parts[0];
  const std::size_t nnz = values.shape.rank() == 1 ? std::size_t(values.shape[0]) : 0;
  if (!has_valid_indices(sparse, nnz)) return bad("has indices that are neither int64 [nnz] nor int64 [nnz, rank]");
  const std::size_t width = detail::row_of(sparse.type).bits / 8;
  if (width == 0 || detail::row_of(sparse.type).bits % 8 || values.type != sparse.type)
    return bad("has elements of a type that sparse tensors can't have");
  std::uint64_t count = 1, bytes = 0;
  for (std::int64_t d : sparse.shape)
    if (d < 0 || !checked_multiply(count, std::uint64_t(d), count)) return bad("has a shape that is too large");
  if (!detail::checked_bytes(sparse.type, count, bytes) || bytes > max_dense_bytes)
    return bad("is over 2 GB when dense");
  if (bytes > m.most_memory || m.memory.used() > m.most_memory - bytes)
    return failed(
        status_code::out_of_memory,
        "{} has {} bytes when dense, with which the model would pass its limit of {} (load_limits.model_bytes)", what,
        bytes, m.most_memory);
  void* const memory = m.memory.allocate(std::size_t(bytes ? bytes : 1), 64);
  if (!memory) return status_code::out_of_memory;
  std::memset(memory, 0, std::size_t(bytes));
  for (std::size_t n = 0; n < nnz; ++n) {
    std::uint64_t at = 0;
    if (!position_of(sparse, n, count, at)) return bad("has an index outside its shape");
    std::memcpy(static_cast<std::byte*>(memory) + at * width, static_cast<const std::byte*>(values.data) + n * width,
                width);
  }
  return value::tensor(sparse.type, sparse.shape, memory);
}

namespace {

template <class T>
result<value> tensor_of(model& m, std::span<const T> elements, bool is_scalar) {
  result<std::span<T>> kept = m.memory.copy(elements);
  if (!kept) return kept.error();
  const extents shape = is_scalar ? extents{} : extents{std::int64_t(kept->size())};
  return value::tensor<T>(shape, std::span<const T>{*kept});
}

}  // namespace

result<value> constant_of_attribute(model& m, const attribute& a) {
  switch (a.kind) {
    case attribute_kind::t:
    case attribute_kind::sparse_tensor:
      if (a.tensors.size() == 1) return a.tensors[0];
      break;
    case attribute_kind::f: return tensor_of<float>(m, {&a.f, 1}, true);
    case attribute_kind::i: return tensor_of<std::int64_t>(m, {&a.i, 1}, true);
    case attribute_kind::s: return tensor_of<std::string_view>(m, {&a.s, 1}, true);
    case attribute_kind::floats: return tensor_of<float>(m, a.floats, false);
    case attribute_kind::ints: return tensor_of<std::int64_t>(m, a.ints, false);
    case attribute_kind::strings: return tensor_of<std::string_view>(m, a.strings, false);
    default: break;
  }
  return failed(status_code::invalid_graph, "attribute '{}' has no value", a.name);
}

namespace {

/// True if a version of the operator allows the node's attributes.
bool allows(const op_version& version, const detail::graph_node& n) {
  const std::string_view output = version.outputs.empty() ? std::string_view{} : version.outputs[0].type_string;
  for (const attribute& a : n.attributes) {
    if (a.name.starts_with("__")) continue;
    const auto rule = std::find_if(version.attributes.begin(), version.attributes.end(),
                                   [&](const attribute_rule& r) { return r.name == a.name; });
    if (rule == version.attributes.end() || rule->kind != a.kind) return false;
    if (a.tensors.size() != 1) continue;
    for (const type_rule& type : version.types)
      if (type.type_string == output && !(type.tensors & detail::bit_of(a.tensors[0].type))) return false;
  }
  return true;
}

}  // namespace

const op_version* version_of_constant(const detail::graph_node& n) {
  for (const op_version& version : n.op->versions)
    if (version.since >= n.version->since && allows(version, n)) return &version;
  return n.version;
}

result<value> constant_of_node(model& m, const detail::graph_node& n) {
  const attribute* found = nullptr;
  for (const attribute& a : n.attributes) {
    if (a.name.starts_with("__")) continue;
    if (found)
      return failed(status_code::invalid_graph, "attributes '{}' and '{}' are both its value: it needs exactly one",
                    found->name, a.name);
    found = &a;
  }
  if (!found) return failed(status_code::invalid_graph, "no attribute is its value: it needs exactly one");
  if (!found->ref_attr_name.empty()) return value{};
  return constant_of_attribute(m, *found);
}

}  // namespace CAMEO_NAMESPACE
