// Comparisons, logical and bitwise operators with two operands, compiled once per instruction set.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>

#include "skeletons/zip-inl.hpp"

#if HWY_ONCE
#include <cameo/op/attributes/onnx.hpp>

#include "bound_zips.hpp"

namespace CAMEO_NAMESPACE::eps {

using shift_left = form<op::BitShift, "LEFT">;
using shift_right = form<op::BitShift, "RIGHT">;

template <>
result<binary<op::BitShift>> binary<op::BitShift>::bind(bind_context& c) {
  const attributes_of<op::BitShift> a{c.attributes};
  binary made;
  made.finish(c, (a.direction == op::shift_direction_choice::left ? find_zip<shift_left>
                                                                  : find_zip<shift_right>)(c.inputs[0].type));
  return made;
}

template struct zip_loops<logic_zips>;

}  // namespace CAMEO_NAMESPACE::eps
#endif
