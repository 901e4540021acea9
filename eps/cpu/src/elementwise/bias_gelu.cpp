#include <cameo/eps/cpu/bias_gelu.hpp>

#include "skeletons/zip.hpp"
#include "zip_rows.hpp"

namespace CAMEO_NAMESPACE::eps {
status bias_gelu_state::run(run_context& c) const {
  const value &x = c.input(0), &bias = c.input(1);
  const extents& shape = x.shape;
  static constexpr std::uint64_t zero = 0;  // a zero of every float type
  broadcast_loops<2> loops;
  if (status s = geometry::check_broadcast<std::int64_t>(bias.shape, shape, "bias"); !s) return s;
  if (status s = loops.make({&shape, &bias.shape}); !s) return s;
  const result<value*> out = c.output(0, shape);
  if (!out) return out.error();
  run_zip(c, row, loops, 1 << 14, {x.data, bytes}, {bias ? bias.data : &zero, bytes}, (*out)->data, bytes);
  return {};
}

template <class Op>
result<bias_gelu<Op>> bias_gelu<Op>::bind(bind_context& c) {
  bias_gelu made;
  const dtype type = c.inputs[0].type;
  made.row = find_zip<Op>(type);
  made.bytes = detail::row_of(type).bits / 8;
  c.may_overwrite(0, 0);
  return made;
}

template struct bias_gelu<op::microsoft::BiasGelu>;
template struct bias_gelu<op::microsoft::FastGelu>;

}  // namespace CAMEO_NAMESPACE::eps
