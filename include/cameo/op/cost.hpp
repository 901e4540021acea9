#pragma once
#include <cameo/core/value.hpp>
#include <cameo/op/op.hpp>

#include <optional>

CAMEO_BEGIN_NAMESPACE
namespace detail {

/// A node with the values of a run, of which only types and shapes are asked (and whether two are the same memory).
struct node_in_run {
  std::span<const attribute> attributes;
  std::span<const std::uint32_t> inputs, outputs;  // numbers of `values`; 0: absent
  const value* values = nullptr;

  /// An input that is a tensor, or null.
  const value* input(std::size_t i) const { return tensor(inputs, i); }
  /// An output that is a tensor, or null.
  const value* output(std::size_t i) const { return tensor(outputs, i); }
  /// An attribute of the node, or `otherwise` if the node does not have it.
  std::int64_t int_or(std::string_view name, std::int64_t otherwise) const {
    const attribute* const found = find_attribute(attributes, name);
    return found && found->kind == attribute_kind::i ? found->i : otherwise;
  }

 private:
  const value* tensor(std::span<const std::uint32_t> of, std::size_t i) const {
    if (i >= of.size() || of[i] == 0) return nullptr;
    const value& found = values[of[i]];
    return found.kind == value_kind::tensor ? &found : nullptr;
  }
};

/// How many operations an operator asks for, by its definition: a multiplication and an addition are two, an element of
/// the result of any function of elements is one, and what only moves is none. What an implementation saves or adds
/// does not count, nor do a product's bias and activation. std::nullopt: not known.
CAMEO_API std::optional<double> operations_of(const op_row&, const node_in_run&);

/// The bytes that a node reads of its inputs, constants among them, and those of its outputs, each counted once. Of an
/// input that it reads in places (the table of Gather or EmbedLayerNormalization, what Slice leaves, experts that are
/// not chosen), only those count; none of one whose shape alone it takes. Nothing is moved where a node leaves its
/// input where it lies, and only updates where it writes into that. Null: an operator that is not known.
CAMEO_API double bytes_moved(const op_row*, const node_in_run&);

}  // namespace detail
CAMEO_END_NAMESPACE
