#include <cameo/eps/cpu/group_normalization.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <cmath>

#include "functions/moments.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {

template <class C>
status group_normalization_state::run_as(run_context& c) const {
  const value& x = c.input(0);
  const std::int64_t channels = x.shape[1], parts = groups ? groups : channels;
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  if (x.shape.count() == 0) return {};
  const result<const C*> scale = wide_vector<C>(c, c.input(1)), bias = wide_vector<C>(c, c.input(2));
  if (!scale || !bias) return status_code::out_of_memory;
  const std::int64_t per_group = channels / parts, n = x.shape.count(2, x.shape.rank()), size = per_group * n;
  return map_rows<C>(c, x, **out, size, grain_of(1 << 14, size), [&](const C* in, C* to, std::int64_t group) {
    const moments of_group = moments_of(in, size);
    const double inverse = 1 / std::sqrt(of_group.variance + epsilon);
    for (std::int64_t k = 0; k < per_group; ++k) {
      const std::int64_t at = (scale_per_group ? group % parts : group % parts * per_group + k);
      center_and_scale(in + k * n, to + k * n, n, of_group.mean, double((*scale)[at]) * inverse, double((*bias)[at]));
    }
  });
}

status group_normalization_state::run(run_context& c) const {
  return c.input(0).type == dtype::f64 ? run_as<double>(c) : run_as<float>(c);
}

template <class Op>
result<group_normalization<Op>> group_normalization<Op>::bind(bind_context& c) {
  group_normalization made;
  const attributes_of<Op> a{c.attributes};
  made.epsilon = double(a.epsilon);
  if constexpr (std::is_same_v<Op, op::GroupNormalization>)
    made.groups = a.num_groups, made.scale_per_group = c.since < 21;
  c.may_overwrite(0, 0);
  return made;
}

template struct group_normalization<op::InstanceNormalization>;
template struct group_normalization<op::GroupNormalization>;

}  // namespace CAMEO_NAMESPACE::eps
