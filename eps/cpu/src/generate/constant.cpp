#include <cameo/eps/cpu/constant.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "operands/operand_values.hpp"
#include "operands/outputs.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

template <class T>
result<value> keep_scalar(bind_context& c, T element) {
  result<std::span<T>> kept = c.state.take<T>(1);
  if (!kept) return kept.error();
  (*kept)[0] = element;
  return value::tensor<T>({}, *kept);
}
template <class T>
value list(std::span<const T> elements) {
  return value::tensor<T>({std::int64_t(elements.size())}, elements);
}

constexpr float zero = 0;

}  // namespace

result<constant> constant::bind(bind_context& c) {
  for (const attribute& a : c.attributes) {
    result<value> made = status_code::invalid_graph;
    switch (a.kind) {
      case attribute_kind::t:
      case attribute_kind::sparse_tensor:
        if (a.tensors.size() == 1) made = a.tensors[0];
        break;
      case attribute_kind::f: made = keep_scalar(c, a.f); break;
      case attribute_kind::i: made = keep_scalar(c, a.i); break;
      case attribute_kind::s: made = keep_scalar(c, a.s); break;
      case attribute_kind::floats: made = list(a.floats); break;
      case attribute_kind::ints: made = list(a.ints); break;
      case attribute_kind::strings: made = list(a.strings); break;
      default: continue;
    }
    if (!made) return made.error();
    return constant{*made};
  }
  return check_given("one of value, value_float, value_int, value_string, ...", false);
}

result<constant_of_shape> constant_of_shape::bind(bind_context& c) {
  const attribute_tensor given = attributes_of<op::ConstantOfShape>{c.attributes}.value;
  const value element = given ? *given : value::tensor<float>({1}, {&zero, 1});
  if (status s = of_model(check_count("value", element.shape.count(), 1)); !s) return s;
  if (status same = check_output_type(c, element.type); !same) return same;
  return constant_of_shape{element};
}
status constant_of_shape::run(run_context& c) const {
  extents shape;
  if (status read = read_extents(c.input(0), "shape", shape); !read) return read;
  if (status s = check_sizes("a size of shape", shape); !s) return s;
  const result<value*> y = c.output(0, shape);
  if (!y) return y.error();
  const int bits = detail::row_of(element.type).bits;
  if (bits >= 8) return fill(c, (*y)->data, shape.count(), element.data, std::size_t(bits) / 8), status{};
  // Packed elements: fills with a byte whose elements are equal.
  const unsigned one = unsigned(*static_cast<const std::uint8_t*>(element.data)) & ((1u << bits) - 1);
  const auto byte = std::uint8_t(bits == 4 ? one * 0x11 : one * 0x55);
  return fill(c, (*y)->data, std::int64_t((*y)->bytes()), &byte, 1), status{};
}

}  // namespace CAMEO_NAMESPACE::eps
