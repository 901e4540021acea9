#include <cameo/eps/cpu/reshape.hpp>
#include <cameo/geometry/reshape.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "operands/operand_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Gives output 0 the elements of input 0 and a shape.
template <class Shape>
status forward_as(run_context& c, const result<Shape>& shape) {
  return shape ? c.forward(0, c.input(0), *shape) : shape.error();
}

}  // namespace

result<reshape> reshape::bind(bind_context& c) {
  c.views(0, 0);
  const attributes_of<op::Reshape> a{c.attributes};
  return reshape{a.allowzero != 0, a.shape};
}
status reshape::run(run_context& c) const {
  number_input to;
  if (status read = to.read(c.input(1), "shape", shape); !read) return read;
  if (status s = check_given("shape", to.list.is_given); !s) return s;
  return forward_as(c, geometry::reshape_of<std::int64_t>(c.input(0).shape, to.list.numbers, zero_is_a_size));
}

result<expand_dims> expand_dims::bind(bind_context& c) {
  c.views(0, 0);
  return expand_dims{};
}
status expand_dims::run(run_context& c) const {
  const std::int64_t axis[] = {integers{c.input(1)}[0]};
  return forward_as(c, geometry::unsqueeze_of<std::int64_t>(c.input(0).shape, axis));
}

result<flatten> flatten::bind(bind_context& c) {
  c.views(0, 0);
  return flatten{attributes_of<op::Flatten>{c.attributes}.axis};
}
status flatten::run(run_context& c) const {
  return forward_as(c, geometry::flatten_of<std::int64_t>(c.input(0).shape, axis));
}

result<squeeze> squeeze::bind(bind_context& c) {
  c.views(0, 0);
  return squeeze{attributes_of<op::Squeeze>{c.attributes}.axes};
}
status squeeze::run(run_context& c) const {
  number_input given;
  if (status read = given.read(c.input(1), "axes", axes); !read) return read;
  return forward_as(c, geometry::squeeze_of<std::int64_t>(c.input(0).shape, given.list));
}

result<unsqueeze> unsqueeze::bind(bind_context& c) {
  c.views(0, 0);
  return unsqueeze{attributes_of<op::Unsqueeze>{c.attributes}.axes};
}
status unsqueeze::run(run_context& c) const {
  number_input given;
  if (status read = given.read(c.input(1), "axes", axes); !read) return read;
  if (status s = check_given("axes", given.list.is_given); !s) return s;
  return forward_as(c, geometry::unsqueeze_of<std::int64_t>(c.input(0).shape, given.list));
}

result<identity> identity::bind(bind_context& c) {
  if (!c.inputs.empty() && c.inputs[0].kind == type_kind::tensor) c.views(0, 0);
  return identity{};
}
status identity::run(run_context& c) const { return c.forward(0, c.input(0)); }

}  // namespace CAMEO_NAMESPACE::eps
