#pragma once
#include <cameo/core/value.hpp>
#include <cameo/op/op.hpp>

#include <optional>

namespace CAMEO_NAMESPACE::detail {

/// A node with the values of a run. Only their types and shapes are read, and whether two share memory.
struct node_in_run {
  std::span<const attribute> attributes;
  std::span<const std::uint32_t> inputs, outputs;  // numbers of `values`; 0: absent
  const value* values = nullptr;

  /// An input that is a tensor, or null.
  const value* input(std::size_t i) const { return tensor(inputs, i); }
  /// An output that is a tensor, or null.
  const value* output(std::size_t i) const { return tensor(outputs, i); }

 private:
  const value* tensor(std::span<const std::uint32_t> of, std::size_t i) const {
    if (i >= of.size() || of[i] == 0) return nullptr;
    const value& found = values[of[i]];
    return found.kind == value_kind::tensor ? &found : nullptr;
  }
};

/// The number of operations that an operator takes by its definition: a multiplication and an addition are two, each
/// element of an elementwise result is one, and moving elements takes none. What an implementation saves or adds does
/// not count, nor do a product's bias and activation. std::nullopt if it is unknown.
CAMEO_API std::optional<double> operations_of(const op_row&, const node_in_run&);

/// The bytes that a node reads of its inputs, constants included, and writes to its outputs, each counted once. Of an
/// input that the node reads in part (the table of Gather or EmbedLayerNormalization, the part that Slice returns, the
/// experts that are chosen), only that part counts, and nothing of an input whose shape alone it reads. A node that
/// leaves its input where it is moves nothing; one that updates it in place moves the updates. The row is null for an
/// unknown operator.
CAMEO_API double bytes_moved(const op_row*, const node_in_run&);

}  // namespace CAMEO_NAMESPACE::detail
