#include <cameo/eps/cpu/variadic.hpp>

#include "skeletons/zip.hpp"
#include "zip_rows.hpp"

#include "skeletons/float_values.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {

status variadic_state::run(run_context& c) const {
  geometry::common_shape common;
  for (std::size_t i = 0; i < c.input_count(); ++i)
    if (status s = common.add(c.input(i).shape, i); !s) return s;
  const extents whole = common;
  const result<value*> out = c.output(0, whole);
  if (!out) return out.error();
  if (whole.count() == 0) return {};
  const value& first = c.input(0);
  void* const to = (*out)->data;
  if (c.input_count() == 1) {
    copy_bytes(c, to, first.data, first.bytes());
    return {};
  }
  /// Computes the whole output from two operands; the first operand may be the output itself.
  const auto run = [&](binary_row row, const void* a, const extents& a_shape, const void* b, const extents& b_shape) {
    broadcast_loops<3> loops;
    if (status s = loops.make({&a_shape, &b_shape, &whole}); !s) return s;
    run_zip(c, row, loops, 1 << 15, {a, bytes}, {b, bytes}, to, bytes);
    return status{};
  };
  status folded = run(fold, first.data, first.shape, c.input(1).data, c.input(1).shape);
  for (std::size_t i = 2; folded && i < c.input_count(); ++i)
    folded = run(fold, to, whole, c.input(i).data, c.input(i).shape);
  if (!folded || !divide) return folded;
  const std::uint64_t number = float_element(first.type, float(c.input_count()));
  return run(divide, to, whole, &number, extents{});
}

template <class Op>
result<variadic<Op>> variadic<Op>::bind(bind_context& c) {
  variadic made;
  const dtype type = c.inputs[0].type;
  made.fold = find_zip<Op>(type);
  if constexpr (std::is_same_v<Op, op::Mean>) made.divide = find_zip<op::Div>(type);
  made.bytes = std::uint8_t(detail::row_of(type).bits / 8);
  // With more than two operands the output is read again, and an operand in the same buffer would be overwritten too
  // soon.
  for (std::size_t i = 0; c.inputs.size() <= 2 && i < c.inputs.size(); ++i) c.may_overwrite(0, i);
  return made;
}

template struct variadic<op::Sum>;
template struct variadic<op::Min>;
template struct variadic<op::Max>;
template struct variadic<op::Mean>;

}  // namespace CAMEO_NAMESPACE::eps
