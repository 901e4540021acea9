#include <cameo/geometry/reduction.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "infer_list.hpp"
#include "tools.hpp"

namespace CAMEO_NAMESPACE::infer {

status reduce(infer_context& c) {
  const attributes_of<op::ReduceSum> a{c.attributes()};
  return give(
      c, 0, c.element(0),
      geometry::reduction_of<dim>(shape_of(c, 0), ints_of(a.axes, c, 1), a.keepdims != 0, a.noop_with_empty_axes != 0));
}

status arg_extreme(infer_context& c) {
  const attributes_of<op::ArgMax> a{c.attributes()};
  return give(c, 0, dtype::i64, geometry::extreme_of<dim>(shape_of(c, 0), a.axis, a.keepdims != 0));
}

/// The output is like the input, which must have the axis.
status normalize(infer_context& c) {
  std::int64_t otherwise = -1;
  for (const attribute_rule& rule : c.version().attributes)
    if (rule.name == "axis") otherwise = rule.default_int;
  const std::int64_t axis = attributes_of<op::Softmax>{c.attributes()}.axis.value_or(otherwise);
  // Before version 13, the axis of Softmax, 1 by default, splits the input in two.
  const auto how = otherwise == 1 ? geometry::normalized::flattened : geometry::normalized::softmax;
  if (status s = refused(geometry::normalization_of<dim>(shape_of(c, 0), axis, how).error()); !s) return s;
  return give_type_of(c, 0, 0);
}

status cumulative(infer_context& c) {
  if (const dims* in = c.shape(0))
    if (const std::optional<std::int64_t> axis = constant_int(c, 1))
      if (status s = geometry::axis_of<dim>(*axis, in->size(), "input axis").error(); !s) return s;
  return give_type_of(c, 0, 0);
}

status top_k(infer_context& c) {
  const attributes_of<op::TopK> a{c.attributes()};
  const int_list k = c.version().since < 10 ? int_list{int_list::known, {a.k}} : ints_of_input(c, 1);
  const bool is_known = k.state == int_list::known && k.values.size() == 1;
  const auto made =
      geometry::top_of<dim>(shape_of(c, 0), a.axis, is_known ? k.values.data() : nullptr, only_element(c, 1));
  if (status s = give(c, 0, c.element(0), made); !s) return s;
  return give(c, 1, dtype::i64, made);
}

}  // namespace CAMEO_NAMESPACE::infer
