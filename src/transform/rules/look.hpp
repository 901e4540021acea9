#pragma once
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/attributes/onnx.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/transform/rule.hpp>

#include <cmath>

#include "transform/rules/shapes.hpp"

/// Queries that the local rewrites of several families share.
namespace CAMEO_NAMESPACE::look {

/// The node of one of these operators that produces a value, if the rewriter may change it; else none.
template <declared_op... Ops>
node_view made_by(const rewriter& r, const value_view& v) {
  if (!v || v.is_capture()) return {};
  const node_view n = v.producer();
  return r.may_touch(n) && n.has_op<Ops...>() ? n : node_view{};
}

/// The only reader of a value, if it has one of these operators, reads the value once, may be changed, and the value is
/// not a graph output.
template <declared_op... Ops>
node_view only_reader(const rewriter& r, const value_view& v) {
  if (!v || !v.sole_use()) return {};
  const node_view n = *v.consumers().begin();
  for (value_view each : n.inputs())
    if (each == v) return r.may_touch(n) && n.has_op<Ops...>() ? n : node_view{};
  return {};  // a subgraph reads it
}

/// True if a node has an output other than its first.
inline bool has_further_outputs(const node_view& n) {
  for (std::size_t i = 1; i < n.output_count(); ++i)
    if (n.output(i)) return true;
  return false;
}

/// The pads of a Pad: an attribute before version 11, later a constant input; std::nullopt if that input is not
/// constant.
inline std::optional<std::vector<std::int64_t>> pads_of(const rewriter& r, const node_view& n) {
  if (n.since() >= 11) return ints_of(r.constant(n.input(1)));
  const auto a = n.attributes<op::Pad>();
  const std::span<const std::int64_t> given = n.since() < 2 ? a.paddings : a.pads;
  return std::vector<std::int64_t>{given.begin(), given.end()};
}

/// True for a Shape of all axes.
inline bool is_whole_shape(const node_view& n) {
  const auto a = n.attributes<op::Shape>();
  return n.has_op<op::Shape>() && a.start == 0 && !a.end;
}

/// The input of a node with two inputs that is not `v`.
inline value_view other_input(const node_view& n, const value_view& v) { return n.input(n.input(0) == v ? 1 : 0); }

inline std::optional<double> number_in(const rewriter& r, const value_view& v) { return number_of(r.constant(v)); }
/// Equal within a relative error of 1e-4: constants in files are rounded in several ways.
inline bool about(double a, double b) { return std::abs(a - b) <= 1e-4 * std::abs(b); }

/// The last dim of a tensor of known rank above 0; otherwise unknown.
inline dim last_dim(const rewriter& r, const value_view& v) {
  const std::vector<dim>* const s = r.shape(v);
  return s && !s->empty() ? s->back() : dim{};
}
inline bool has_rank(const rewriter& r, const value_view& v, std::size_t rank) {
  const std::vector<dim>* const s = r.shape(v);
  return s && s->size() == rank;
}
/// True for a vector that certainly has as many elements as x's last axis.
inline bool is_vector_along(const rewriter& r, const value_view& v, const value_view& x) {
  return has_rank(r, v, 1) && last_dim(r, v).known() && last_dim(r, v).same(last_dim(r, x));
}
/// The number by which a Mul or Div multiplies its input `x`, if it is a constant with one element that does not change
/// x's shape.
inline std::optional<double> scalar_factor(const rewriter& r, const node_view& n, std::size_t x) {
  const bool divides = n.has_op<op::Div>();
  if (divides && x != 0) return {};
  const std::optional<double> f = number_in(r, n.input(1 - x));
  const std::vector<dim>*const given = r.shape(n.input(x)), *const shape = r.shape(n.input(1 - x));
  if (!f || !std::isfinite(*f) || !shape || !(shape->empty() || (given && shape->size() <= given->size()))) return {};
  if (divides && *f == 0) return {};
  return divides ? 1 / *f : *f;
}
/// float32 or float16: the types of ONNX Runtime's own operators on processors.
inline bool is_float(const value_view& v) {
  const dtype t = v ? v.element() : dtype::undefined;
  return t == dtype::f32 || t == dtype::f16;
}

// Conditions and attributes of rules in several families.

inline bool is_computed(const match_result& m, const value_view& v) { return !m.in->constant(v); }
inline bool is_factor(const match_result&, double number) {
  return number != 1 && number != 0 && std::isfinite(number);
}
/// The opposite of a flag of n0, a product: `attr<"transA", opposite<&product_attributes::transA>>()`.
using product_attributes = attributes_of<op::microsoft::FusedMatMul>;
template <std::int64_t product_attributes::* Flag>
bool opposite(const match_result& m, attribute& made) {
  made = attribute_of({}, pattern::n0.get(m).attributes<op::microsoft::FusedMatMul>().*Flag == 0 ? 1 : 0);
  return true;
}
inline bool number_as_float(const match_result& m, attribute& made) {
  made = attribute_of({}, float(pattern::s0.get(m)));
  return true;
}

}  // namespace CAMEO_NAMESPACE::look
