#pragma once
#include <cameo/op/attributes/onnx.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/transform/rewriter.hpp>

#include <array>
#include <span>
#include <string>
#include <vector>

/// Derivatives by rewriting: gradient.cpp walks backwards over a graph, gradient_rows.cpp has a row for each operator.
namespace CAMEO_NAMESPACE::derive {

using dims = std::vector<dim>;

/// One node for its derivative_row: its inputs and outputs, the gradients of its outputs, and the gradients of its
/// inputs that the row adds. All nodes that a row makes are operators of ONNX in the model's opset.
class adjoint {
 public:
  struct values {
    std::span<const value_id> inputs, outputs, gradients;  // as they are computed now; `none`: absent, or without
                                                           // gradient
    std::span<const bool> wanted;                          // inputs whose gradients are needed
    bool moved;  // the values replace the node's own: only their ranks are known
  };
  adjoint(rewriter& r, edit& e, const node_view& n, const values& v)
      : node{n}, r_{r}, e_{e}, v_{v}, given_(v.inputs.size(), value_id::none) {}

  const node_view node;
  value_id x(std::size_t i) const { return i < v_.inputs.size() ? v_.inputs[i] : value_id::none; }
  value_id y(std::size_t i = 0) const { return v_.outputs[i]; }
  /// The gradient of an output; `none` if nothing depends on the output.
  value_id dy(std::size_t i = 0) const { return i < v_.gradients.size() ? v_.gradients[i] : value_id::none; }
  std::size_t input_count() const { return v_.inputs.size(); }
  std::size_t output_count() const { return v_.outputs.size(); }
  bool needs(std::size_t i) const { return i < v_.wanted.size() && v_.wanted[i]; }
  std::int64_t opset() const;

  /// Adds to the gradient of input i.
  void give(std::size_t i, value_id gradient);
  /// Makes the gradient of input 0 that of output 0 times `factor`.
  void scale(value_id factor) { give(0, times(dy(), factor)); }
  std::span<const value_id> given() const { return given_; }
  /// Reports what the row does not support; the first report counts.
  void fail(std::string_view why);
  const std::string& problem() const { return problem_; }

  dtype type(std::size_t i = 0) const { return node.input(i).element(); }
  /// The dims of an input if they are known, else null.
  const dims* shape(std::size_t i) const { return v_.moved ? nullptr : r_.shape(node.input(i)); }
  const dims* shape_of_y(std::size_t i = 0) const { return v_.moved ? nullptr : r_.shape(node.output(i)); }
  /// The rank of an input; 0 after fail() if it is unknown.
  std::size_t rank(std::size_t i);
  /// The axes in the attribute of older versions or in constant input 1; calls fail() if the input is not constant.
  std::vector<std::int64_t> axes();

  template <declared_op Op>
  value_id add(std::initializer_list<value_id> inputs, std::initializer_list<attribute> attributes = {}) {
    return e_.add<Op>(inputs, attributes);
  }
  value_id joined(std::span<const value_id> parts, std::int64_t axis) {
    return e_.add<op::Concat>(parts, std::array{attribute_of("axis", axis)});
  }
  value_id again(std::span<const value_id> inputs);  // the node's operator with other inputs
  value_id number(double value) { return number(value, type()); }
  value_id number(double value, dtype type) { return e_.scalar("number", type, value); }
  value_id list(std::span<const std::int64_t> numbers) { return e_.ints("numbers", numbers); }
  value_id list(std::int64_t number) { return list(std::span{&number, 1}); }

  value_id sum_of(value_id a, value_id b) { return add<op::Add>({a, b}); }
  value_id minus(value_id a, value_id b) { return add<op::Sub>({a, b}); }
  value_id times(value_id a, value_id b) { return add<op::Mul>({a, b}); }
  value_id times(value_id a, double b) { return times(a, number(b)); }
  value_id quotient(value_id a, value_id b) { return add<op::Div>({a, b}); }
  value_id square(value_id a) { return times(a, a); }
  value_id zeros_like(value_id v) { return filled_like(v, 0, type()); }
  value_id filled_like(value_id v, double value, dtype type);
  value_id reshaped_like(value_id g, value_id v);
  value_id expanded_like(value_id g, value_id v) { return add<op::Expand>({g, add<op::Shape>({v})}); }
  value_id sum(value_id v, std::span<const std::int64_t> axes, bool keeps);
  value_id mean(value_id v, std::span<const std::int64_t> axes);  // keeps the axes
  value_id unsqueezed(value_id v, std::span<const std::int64_t> axes);
  value_id squeezed(value_id v, std::span<const std::int64_t> axes);
  value_id unsqueezed(value_id v, std::int64_t axis) { return unsqueezed(v, std::span{&axis, 1}); }
  value_id squeezed(value_id v, std::int64_t axis) { return squeezed(v, std::span{&axis, 1}); }
  value_id transposed(value_id v, std::size_t rank);  // swaps its last two axes
  /// Sums over broadcast axes: from a gradient of shape `from` (null: unknown) to the shape `to` of v.
  value_id shrunk(value_id g, const dims* from, value_id v, const dims* to);
  /// shrunk() for a gradient of output 0's shape and input i.
  value_id like(value_id g, std::size_t i) { return shrunk(g, shape_of_y(), x(i), shape(i)); }

 private:
  rewriter& r_;
  edit& e_;
  values v_;
  std::vector<value_id> given_;
  std::string problem_;
};

/// How the gradients of an operator are made.
struct derivative_row {
  detail::op_id op;
  void (*derive)(adjoint&);  // null: outputs change only in steps, so gradients are 0
};
/// Finds the row of an operator; null for an operator without a derivative.
const derivative_row* find_derivative(detail::op_id);

}  // namespace CAMEO_NAMESPACE::derive
