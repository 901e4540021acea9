#include <cameo/geometry/broadcast.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "../implied_shapes.hpp"
#include "infer_list.hpp"
#include "tools.hpp"

#include <bit>
#include <limits>

namespace CAMEO_NAMESPACE {
detail::infer_function detail::implied_shapes(role roles) { return infer_of(roles); }

namespace infer {
namespace {

/// The output has the common shape of all inputs.
status give_broadcast(infer_context& c, dtype type) {
  geometry::basic_common_shape<dim> made;
  for (std::size_t i = 0; i < c.input_count(); ++i)
    if (status s = made.add(shape_of(c, i), i); !s) return s;
  return give(c, 0, type, copy_of(made.view()));
}

enum class arithmetic { add, subtract, multiply, divide };

/// The result of integer arithmetic on sizes; unknown where it overflows or is negative.
dim compute(arithmetic what, dim a, dim b) {
  const bool commutes = what == arithmetic::add || what == arithmetic::multiply;
  const std::int64_t neutral = what == arithmetic::add || what == arithmetic::subtract ? 0 : 1;
  if (commutes && a.size == neutral) return b;
  if (b.size == neutral) return a;
  if (what == arithmetic::subtract && a.same(b)) return dim::fixed(0);
  if (!a.known() || !b.known()) return {};
  std::int64_t size = -1;
  switch (what) {
    case arithmetic::add: return checked_add(a.size, b.size, size) ? dim::fixed(size) : dim{};
    case arithmetic::subtract: return a.size >= b.size ? dim::fixed(a.size - b.size) : dim{};
    case arithmetic::multiply: return checked_multiply(a.size, b.size, size) ? dim::fixed(size) : dim{};
    case arithmetic::divide: return b.size > 0 ? dim::fixed(a.size / b.size) : dim{};
  }
  return {};
}

status_code give_computed(infer_context& c, arithmetic what) {
  if (c.input_count() != 2 || (c.element(0) != dtype::i64 && c.element(0) != dtype::i32)) return status_code::ok;
  const dims *a = elements_at(c, 0), *b = elements_at(c, 1);
  if (!a || !b || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return status_code::ok;
  const std::int64_t largest =
      c.element(0) == dtype::i32 ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int64_t>::max();
  const std::size_t count = a->size() == 1 ? b->size() : a->size();
  dims computed(count);
  for (std::size_t i = 0; i < count; ++i) {
    computed[i] = compute(what, (*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    if (computed[i].size > largest) computed[i] = dim{};
  }
  return give_elements(c, 0, std::move(computed));
}

/// The element type of the output: the only one that the schema allows, or that of the first input.
dtype result_type(const infer_context& c) {
  for (const type_rule& rule : c.version().types)
    if (rule.type_string == c.version().outputs[0].type_string && std::has_single_bit(rule.tensors))
      return dtype(std::countr_zero(rule.tensors));
  return c.element(0);
}

status arithmetic_of(infer_context& c, arithmetic what) {
  if (status s = broadcast(c); !s) return s;
  return give_computed(c, what);
}

}  // namespace

status like_input(infer_context& c) { return give_type_of(c, 0, 0); }

status pointwise(infer_context& c) { return give(c, 0, result_type(c), copy_of(c.shape(0))); }

/// Infers the output of an operator that broadcasts its inputs. Before version 7, other inputs only broadcast to the
/// shape of the first.
status broadcast(infer_context& c) {
  if (c.version().since >= 7) return give_broadcast(c, result_type(c));
  return give(c, 0, result_type(c), copy_of(c.shape(0)));
}

status identity(infer_context& c) {
  if (c.has_input(0)) give(c, 0, c.input(0));
  if (const dims* elements = elements_at(c, 0)) give_elements(c, 0, *elements);
  return status_code::ok;
}

status add(infer_context& c) { return arithmetic_of(c, arithmetic::add); }
status subtract(infer_context& c) { return arithmetic_of(c, arithmetic::subtract); }
status multiply(infer_context& c) { return arithmetic_of(c, arithmetic::multiply); }
status divide(infer_context& c) { return arithmetic_of(c, arithmetic::divide); }

/// Two inputs of the same shape, without broadcasting.
status gated(infer_context& c) {
  if (status s = geometry::check_same(shape_of(c, 1), shape_of(c, 0), "input 1"); !s) return s;
  return like_input(c);
}

/// The operands are inputs 0 and 3; each is followed by its scale and zero point.
status qlinear_binary(infer_context& c) {
  return give(c, 0, c.element(0), geometry::broadcast_of(shape_of(c, 0), shape_of(c, 3), "B"));
}

status where(infer_context& c) { return give_broadcast(c, c.element(1)); }

status prelu(infer_context& c) {
  if (c.version().since >= 7)
    if (status s = geometry::check_broadcast(shape_of(c, 1), shape_of(c, 0), "slope"); !s) return s;
  return give(c, 0, c.element(0), copy_of(c.shape(0)));
}

status cast(infer_context& c) {
  const attributes_of<op::Cast> a{c.attributes()};
  result<dtype> to = dtype_of("to", a.to);
  if (!to) return to.error();
  if (c.version().since < 6) {  // a name, in capitals
    std::string name{a.to_string};
    for (char& letter : name)
      if (letter >= 'A' && letter <= 'Z') letter = char(letter - 'A' + 'a');
    *to = detail::dtype_named(name);
  }
  if (*to == dtype::undefined) return invalid("attribute to names no element type, must be one of ONNX's");
  give(c, 0, *to, copy_of(c.shape(0)));
  const dims* elements = elements_at(c, 0);
  if (!elements || (*to != dtype::i64 && *to != dtype::i32)) return status_code::ok;
  dims kept = *elements;
  for (dim& d : kept)
    if (*to == dtype::i32 && d.size > std::numeric_limits<std::int32_t>::max()) d = dim{};
  return give_elements(c, 0, std::move(kept));
}

status cast_like(infer_context& c) { return give(c, 0, c.element(1), copy_of(c.shape(0))); }

status bit_cast(infer_context& c) {
  result<dtype> to = dtype_of("to", attributes_of<op::BitCast>{c.attributes()}.to);
  if (!to) return to.error();
  const dtype from = c.element(0);
  if (from != dtype::undefined && detail::row_of(from).bits != detail::row_of(*to).bits)
    return invalid("attribute to is ", *to, ", must have as many bits as ", from);
  return give(c, 0, *to, copy_of(c.shape(0)));
}

status dropout(infer_context& c) {
  if (c.has_input(0)) give(c, 0, c.input(0));
  return give(c, 1, c.version().since < 10 ? c.element(0) : dtype::boolean, copy_of(c.shape(0)));
}

/// Quantized values have the zero point's type, else that of the attribute, else uint8.
status quantize_linear(infer_context& c) {
  result<dtype> to = dtype_of("output_dtype", attributes_of<op::QuantizeLinear>{c.attributes()}.output_dtype);
  if (!to) return to.error();
  if (*to == dtype::undefined) *to = c.input_count() > 2 ? c.element(2) : dtype::u8;
  return give(c, 0, *to, copy_of(c.shape(0)));
}

/// The result has the scale's type from version 19 on, and is float before. (Version 1, which is com.microsoft's, has
/// the scale's type, too: ONNX's versions begin at 10.)
status dequantize_linear(infer_context& c) {
  result<dtype> to = dtype_of("output_dtype", attributes_of<op::DequantizeLinear>{c.attributes()}.output_dtype);
  if (!to) return to.error();
  if (*to == dtype::undefined) *to = c.version().since >= 19 || c.version().since == 1 ? c.element(1) : dtype::f32;
  return give(c, 0, *to, copy_of(c.shape(0)));
}

status dynamic_quantize_linear(infer_context& c) {
  give(c, 0, dtype::u8, copy_of(c.shape(0)));
  give(c, 1, dtype::f32, dims{});
  return give(c, 2, dtype::u8, dims{});
}

}  // namespace infer
}  // namespace CAMEO_NAMESPACE
