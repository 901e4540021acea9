// CenterCropPad and GroupNormalization, also for shapes that are only known in a run.
#include "transform/rules/definitions.hpp"

namespace CAMEO_NAMESPACE::define {

bool center_crop_pad::rewrite(rewriter& r, const node_view& n) {
  if (!r.may_touch(n) || !n.input(0) || !n.input(1)) return false;
  edit e{r, n};
  const std::span<const std::int64_t> axes = n.attributes<op::CenterCropPad>().axes;
  const value_id which = axes.empty() ? value_id::none : e.ints("axes", axes), absent = value_id::none;
  const auto sizes_of = [&](value_id v) {
    const value_id all = e.add<op::Shape>({v});
    return axes.empty() ? all : e.add<op::Gather>({all, which});
  };
  constexpr std::int64_t two[] = {2};
  const value_id half = e.ints("two", two), in = n.input(0).id();
  value_id wanted = n.input(1).id();
  if (n.input(1).element() != dtype::i64)
    wanted = e.add<op::Cast>({wanted}, {attribute_of("to", std::int64_t(dtype::i64))});
  // Padding goes to both ends; an odd element to the far end.
  const value_id size = sizes_of(in), missing = e.add<op::Sub>({e.add<op::Max>({size, wanted}), size});
  const value_id near = e.add<op::Div>({missing, half}), far = e.add<op::Sub>({missing, near});
  const value_id pads = e.add<op::Concat>({near, far}, {attribute_of("axis", 0)});
  const value_id padded = e.add<op::Pad>({in, pads, absent, which});
  // Cropping takes from both ends; an odd element from the far end.
  const value_id start = e.add<op::Div>({e.add<op::Sub>({sizes_of(padded), wanted}), half});
  e.replace(n.output(0), e.add<op::Slice>({padded, start, e.add<op::Add>({start, wanted}), which}));
  return e.commit();
}

bool group_normalization::rewrite(rewriter& r, const node_view& n) {
  const auto a = n.attributes<op::GroupNormalization>();
  const dtype type = n.input(0).element(), inner = dtype(a.stash_type);
  const std::int64_t groups = a.num_groups;
  if (!r.may_touch(n) || type == dtype::undefined || groups <= 0 || groups > 1 << 20) return false;
  edit e{r, n};
  const auto cast = [&](value_id v, dtype from, dtype to) {
    return from == to ? v : e.add<op::Cast>({v}, {attribute_of("to", std::int64_t(to))});
  };
  const auto all_of = [&](std::string_view stem, float number) {
    const std::vector<float> numbers(std::size_t(groups), number);
    const value made = value::tensor<float>(extents{groups}, std::span<const float>{numbers});
    return cast(e.constant(stem, made), dtype::f32, inner);
  };
  constexpr std::int64_t same[] = {0}, rest[] = {-1}, column[] = {1};
  const std::int64_t by_group[] = {0, groups, -1};
  const value_id in = n.input(0).id(), shape = e.add<op::Shape>({in});
  const value_id grouped = e.add<op::Reshape>({cast(in, type, inner), e.ints("by_group", by_group)});
  const value_id normal = e.add<op::InstanceNormalization>({grouped, all_of("ones", 1), all_of("zeros", 0)},
                                                           {attribute_of("epsilon", a.epsilon)});
  // Scale and bias are per channel.
  const value_id channels = e.add<op::Shape>({n.input(1).id()}), axis = e.ints("axis", column);
  const value_id by_channel =
      e.add<op::Concat>({e.ints("same", same), channels, e.ints("rest", rest)}, {attribute_of("axis", 0)});
  const auto as_column = [&](std::size_t i) { return e.add<op::Unsqueeze>({n.input(i).id(), axis}); };
  const value_id planes = cast(e.add<op::Reshape>({normal, by_channel}), inner, type);
  const value_id scaled = e.add<op::Mul>({planes, as_column(1)});
  e.replace(n.output(0), e.add<op::Reshape>({e.add<op::Add>({scaled, as_column(2)}), shape}));
  return e.commit();
}

}  // namespace CAMEO_NAMESPACE::define
