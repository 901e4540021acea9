// Arithmetic operators with two operands, compiled once per instruction set.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>

#include "skeletons/zip-inl.hpp"

#if HWY_ONCE
#include <cameo/op/attributes/onnx.hpp>

#include "bound_zips.hpp"

namespace CAMEO_NAMESPACE::eps {

using truncating_mod = form<op::Mod, "fmod">;

namespace {
bool is_integer(dtype type) { return (detail::bit_of(type) & integer_elements::mask) != 0; }
}  // namespace

template <>
void binary_state::prepare<op::Div>(const bind_context& c) {
  divides = is_integer(c.inputs[0].type);
}
template <>
void binary_state::prepare<op::Mod>(const bind_context& c) {
  divides = is_integer(c.inputs[0].type);
}
template <>
void binary_state::prepare<op::PRelu>(const bind_context& c) {
  if (c.since < 7) align = geometry::alignment::to_channel;
  else to_first = true;
}
template <>
result<binary<op::Mod>> binary<op::Mod>::bind(bind_context& c) {
  const dtype type = c.inputs[0].type;
  const bool truncates = attributes_of<op::Mod>{c.attributes}.fmod != 0;
  if (!truncates && !is_integer(type) && c.since < 28)
    return status{status_code::invalid_graph, "Mod of floating point needs fmod = 1 before opset 28"};
  binary made;
  made.prepare<op::Mod>(c);
  made.finish(c, (truncates ? find_zip<truncating_mod> : find_zip<op::Mod>)(type));
  return made;
}

template struct zip_loops<arithmetic_zips>;
template binary_row find_zip<op::Div>(dtype);
template void zip_floats<op::Add>(const float*, std::int64_t, const float*, std::int64_t, float*, std::int64_t);
template void zip_floats<op::Mul>(const float*, std::int64_t, const float*, std::int64_t, float*, std::int64_t);

}  // namespace CAMEO_NAMESPACE::eps
#endif
