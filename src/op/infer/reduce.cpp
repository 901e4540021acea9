#include "infer_list.hpp"
#include "tools.hpp"

#include <cameo/op/attributes/onnx.hpp>

namespace CAMEO_NAMESPACE::infer {
namespace {

/// A shape without these axes, or with size 1 in their place.
dims reduced(const dims& from, const std::vector<std::size_t>& axes, bool keep) {
  std::vector<bool> gone(from.size());
  for (std::size_t axis : axes) gone[axis] = true;
  dims left;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!gone[i]) left.push_back(from[i]);
    else if (keep) left.push_back(dim::fixed(1));
  }
  return left;
}

}  // namespace

status reduce(infer_context& c) {
  const attributes_of<op::ReduceSum> a{c.attributes()};
  const dims* in = c.shape(0);
  const int_list axes = ints_of(a.axes, c, 1);
  const bool keep = a.keepdims != 0;
  const bool none = axes.state == int_list::absent || (axes.state == int_list::known && axes.values.empty());
  std::optional<dims> out;
  if (in && none && a.noop_with_empty_axes != 0) {
    out = *in;
  } else if (in && none) {
    out = dims(keep ? in->size() : 0, dim::fixed(1));
  } else if (in && axes.state == int_list::known) {
    result<std::vector<std::size_t>> known = axes_in(axes.values, in->size());
    if (!known) return known.error();
    out = reduced(*in, *known, keep);
  } else if (in && keep) {
    out = dims(in->size());
  }
  return give(c, 0, c.element(0), std::move(out));
}

status arg_extreme(infer_context& c) {
  const attributes_of<op::ArgMax> a{c.attributes()};
  std::optional<dims> out;
  if (const dims* in = c.shape(0)) {
    result<std::size_t> axis = axis_in(a.axis, in->size());
    if (!axis) return axis.error();
    if ((*in)[*axis].size == 0) return invalid("axis ", *axis, " of ", *in, " is empty and has no largest or smallest");
    out = reduced(*in, {*axis}, a.keepdims != 0);
  }
  return give(c, 0, dtype::i64, std::move(out));
}

/// The output is like the input, which must have the axis.
status normalize(infer_context& c) {
  if (const dims* in = c.shape(0); in && !in->empty()) {
    std::int64_t otherwise = -1;
    for (const attribute_rule& rule : c.version().attributes)
      if (rule.name == "axis") otherwise = rule.default_int;
    const std::int64_t axis = attributes_of<op::Softmax>{c.attributes()}.axis.value_or(otherwise);
    // Before version 13, Softmax's axis splits the input in two and may equal its rank.
    if (c.version().since >= 13 || axis != std::int64_t(in->size()))
      if (result<std::size_t> found = axis_in(axis, in->size()); !found) return found.error();
  }
  return give_type_of(c, 0, 0);
}

status cumulative(infer_context& c) {
  if (const dims* in = c.shape(0))
    if (std::optional<std::vector<std::int64_t>> axis = c.constant_ints(1); axis && axis->size() == 1)
      if (result<std::size_t> found = axis_in((*axis)[0], in->size(), "input axis"); !found) return found.error();
  return give_type_of(c, 0, 0);
}

status top_k(infer_context& c) {
  const attributes_of<op::TopK> a{c.attributes()};
  std::optional<dims> out;
  if (const dims* in = c.shape(0)) {
    result<std::size_t> axis = axis_in(a.axis, in->size());
    if (!axis) return axis.error();
    out = *in;
    dim& size = (*out)[*axis];
    const int_list k = c.version().since < 10 ? int_list{int_list::known, {a.k}} : ints_of_input(c, 1);
    const dims* elements = elements_at(c, 1);
    if (k.state == int_list::known && k.values.size() == 1) {
      if (k.values[0] < 0 || (size.known() && k.values[0] > size.size))
        return invalid("K is ", k.values[0], ", must be from 0 to ", size, ", the size of axis ", *axis);
      size = dim::fixed(k.values[0]);
    } else {
      size = elements && elements->size() == 1 ? (*elements)[0] : dim{};
    }
  }
  give(c, 0, c.element(0), out);
  return give(c, 1, dtype::i64, std::move(out));
}

}  // namespace CAMEO_NAMESPACE::infer
