#pragma once
#include <cameo/core/result.hpp>
#include <cameo/op/attributes/attributes_of.hpp>
#include <cameo/op/op.hpp>
#include <cameo/op/value_type.hpp>

namespace CAMEO_NAMESPACE {

/// The interface of a shape function to one node. Host only, one thread. The function sets what it can infer and leaves
/// the rest unknown. It returns INVALID_GRAPH only for illegal inputs, with a message that states what is legal.
class infer_context {
 public:
  virtual ~infer_context() = default;

  /// The version of the operator that applies to the node.
  virtual const op_version& version() const = 0;
  /// The attributes that the node has; defaults are not filled in. See attributes_of.
  virtual std::span<const attribute> attributes() const = 0;

  virtual std::size_t input_count() const = 0;  // trailing absent inputs are not counted
  /// The number of outputs, including absent ones in between.
  virtual std::size_t output_count() const = 0;
  /// The type of an input; null when the input is absent or its type is unknown.
  virtual const value_type* input(std::size_t i) const = 0;
  /// The value of a constant input (an initializer or a Constant node), in host memory; null for other inputs.
  virtual const value* constant(std::size_t i) const = 0;
  /// The elements of a small integer tensor (rank 0 or 1), as far as they are known: from a constant, or computed from
  /// shapes (Shape, Gather, Concat, ...). Null if even their number is unknown.
  virtual const std::vector<dim>* elements(std::size_t i) const = 0;
  /// A new symbol, for an unknown size that other dims may equal.
  virtual dim fresh_symbol() = 0;
  /// Infers the n-th subgraph with these input types (null: as declared). Returns its outputs' types, which live as
  /// long as the context.
  virtual result<std::vector<const value_type*>> infer_subgraph(std::size_t index,
                                                                std::span<const value_type* const> inputs) = 0;
  /// Sets the type of output i. It is compared with the declared type: a contradiction is INVALID_GRAPH.
  virtual void set_output(std::size_t i, value_type type) = 0;
  /// Sets the elements of output i, a small integer tensor. Shape functions of later nodes read them with elements().
  virtual void set_elements(std::size_t i, std::vector<dim> elements) = 0;

  /// Reports that a pooling window is larger than its padded input along a spatial axis: harmless, but not legal in
  /// ONNX.
  virtual void report_large_window(std::size_t axis, std::int64_t window, std::int64_t padded) {
    static_cast<void>(axis), static_cast<void>(window), static_cast<void>(padded);
  }

  /// Reports that the subgraph of the attribute `name` breaks a rule, which `wrong` describes: harmless, since the node
  /// never runs it.
  virtual void report_broken_branch(std::string_view name, const status& wrong) {
    static_cast<void>(name), static_cast<void>(wrong);
  }
  /// Reports that a linear model has more coefficients than its input needs: harmless, but not legal in ONNX.
  virtual void report_unused_coefficients(std::size_t given, std::size_t needed) {
    static_cast<void>(given), static_cast<void>(needed);
  }

  /// An attribute of the node, or null. For a single one; a struct has them all: see attributes_of.
  const attribute* find(std::string_view name) const { return detail::find_attribute(attributes(), name); }
  /// An integer attribute of the node, or `otherwise` if the node does not have it.
  std::int64_t int_or(std::string_view name, std::int64_t otherwise) const {
    const attribute* const a = detail::find_attribute(attributes(), name, attribute_kind::i);
    return a ? a->i : otherwise;
  }
  /// A string attribute of the node, or `otherwise` if the node does not have it.
  std::string_view string_or(std::string_view name, std::string_view otherwise) const {
    const attribute* const a = detail::find_attribute(attributes(), name, attribute_kind::s);
    return a ? a->s : otherwise;
  }
  /// An attribute with integers, or `otherwise` if the node does not have it.
  std::span<const std::int64_t> ints_or(std::string_view name, std::span<const std::int64_t> otherwise = {}) const {
    const attribute* const a = detail::find_attribute(attributes(), name, attribute_kind::ints);
    return a ? a->ints : otherwise;
  }
  bool has_input(std::size_t i) const { return i < input_count() && input(i) != nullptr; }
  /// The element type of a tensor input, or undefined.
  CAMEO_API dtype element(std::size_t i) const;
  /// The shape of a tensor input, or null when unknown.
  CAMEO_API const std::vector<dim>* shape(std::size_t i) const;
  /// The elements of a constant integer input of rank 0 or 1; std::nullopt when it is not constant.
  CAMEO_API std::optional<std::vector<std::int64_t>> constant_ints(std::size_t i) const;
};

/// Checks the shapes of a node's inputs, as far as they are known, against those that the version of its operator
/// states. INVALID_GRAPH, with the input, its shape and what it must be.
CAMEO_API status check_input_shapes(const infer_context&);

/// Computes the multidirectional broadcast of shapes. INVALID_GRAPH, with both shapes, when they do not broadcast;
/// NOT_IMPLEMENTED for one of more than max_rank axes.
CAMEO_API result<std::vector<dim>> infer_broadcast(std::span<const std::vector<dim>* const> shapes);

}  // namespace CAMEO_NAMESPACE
