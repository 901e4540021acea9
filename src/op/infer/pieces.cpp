// Operators that join, split and resize tensors: Concat, Split, Slice, Pad, Resize.
#include <cameo/geometry/joining.hpp>
#include <cameo/geometry/pad.hpp>
#include <cameo/geometry/slice.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "infer_list.hpp"
#include "tools.hpp"

#include <cmath>

namespace CAMEO_NAMESPACE::infer {
namespace {

void give_joined_elements(infer_context& c) {
  dims joined;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    const dims *elements = elements_at(c, i), *shape = c.shape(i);
    if (!elements || !shape || shape->size() != 1) return;
    joined.insert(joined.end(), elements->begin(), elements->end());
  }
  give_elements(c, 0, std::move(joined));
}

/// Concatenates inputs `first`, `first + step`, ...
status concat_of(infer_context& c, std::size_t first, std::size_t step, std::int64_t asked) {
  geometry::basic_join<dim> join{asked, false};
  dtype type = dtype::undefined;
  for (std::size_t i = first; i < c.input_count(); i += step) {
    if (status s = join.add(shape_of(c, i), i); !s) return s;
    if (type == dtype::undefined) type = c.element(i);
  }
  give(c, 0, type, copy_of(join.y().view()));
  if (step == 1 && c.input_count()) give_joined_elements(c);
  return status_code::ok;
}

}  // namespace

status concat(infer_context& c) {
  return concat_of(c, 0, 1, attributes_of<op::Concat>{c.attributes()}.axis.value_or(1));
}
/// Each input has a scale and a zero point.
status qlinear_concat(infer_context& c) {
  return concat_of(c, 2, 3, attributes_of<op::microsoft::QLinearConcat>{c.attributes()}.axis);
}

status split(infer_context& c) {
  const attributes_of<op::Split> a{c.attributes()};
  const int_list listed = ints_of(a.split, c, 1);
  const auto made = geometry::split_of(shape_of(c, 0), a.axis.value_or(0), c.output_count(),
                                       {listed, a.num_outputs.value_or(0), c.version().since >= 18});
  if (!made) return made.error();
  for (std::size_t i = 0; i < c.output_count(); ++i)
    give(c, i, c.element(0), copy_of(made->shape_of(made->size_at(std::int64_t(i))).view()));
  return status_code::ok;
}

namespace {

struct slice_arguments {
  int_list starts, ends, axes, steps;
};

slice_arguments slice_arguments_of(const infer_context& c) {
  if (c.version().since < 10) {
    const attributes_of<op::Slice> a{c.attributes()};
    return {ints_of(a.starts), ints_of(a.ends), ints_of(a.axes), {}};
  }
  return {ints_of_input(c, 1), ints_of_input(c, 2), ints_of_input(c, 3), ints_of_input(c, 4)};
}

void give_sliced_elements(infer_context& c, const slice_arguments& a) {
  const dims* const elements = elements_at(c, 0);
  const bool known = a.starts.state == int_list::known && a.ends.state == int_list::known &&
                     a.axes.state != int_list::unknown && a.steps.state != int_list::unknown;
  if (!elements || shape_of(c, 0).rank() != 1 || !known || a.starts.values.size() != 1) return;
  const geometry::slice_axis cut =
      geometry::slice_axis_of(std::int64_t(elements->size()), a.starts.values[0], a.ends.values[0],
                              a.steps.state == int_list::known ? a.steps.values[0] : 1);
  dims kept;
  for (std::int64_t i = 0; i < cut.count; ++i) kept.push_back((*elements)[std::size_t(cut.start + i * cut.step)]);
  give_elements(c, 0, std::move(kept));
}

}  // namespace

status slice(infer_context& c) {
  const slice_arguments a = slice_arguments_of(c);
  const auto made = geometry::slice_of(shape_of(c, 0), a.starts, a.ends, a.axes, a.steps);
  if (status s = give(c, 0, c.element(0), made); !s) return s;
  give_sliced_elements(c, a);
  return status_code::ok;
}

status pad(infer_context& c) {
  const attributes_of<op::Pad> a{c.attributes()};
  const int_list pads = c.version().since < 2 ? ints_of(a.paddings) : ints_of(a.pads, c, 1);
  const int_list axes = c.version().since >= 18 ? ints_of_input(c, 3) : int_list{};
  const auto with = a.mode == op::pad_mode_choice::constant ? geometry::filling::constant : geometry::filling::elements;
  return give(c, 0, c.element(0), geometry::pad_of(shape_of(c, 0), pads, axes, with));
}

namespace {

/// floor(size * scale); INVALID_GRAPH when that is not a size.
result<dim> scaled(dim d, float scale, std::size_t axis) {
  if (!(scale > 0) || std::isinf(scale)) return invalid("the scale of axis ", axis, " must be a positive number");
  if (scale == 1.0F || !d.known()) return scale == 1.0F ? d : dim{};
  const float size = std::floor(float(d.size) * scale);
  if (!(size < 9.2e18F)) return invalid("axis ", axis, " of size ", d, " gets too large, needs a smaller scale");
  return dim::fixed(std::int64_t(size));
}

/// Sets the sizes of some axes of a shape to those of a list, with change(size, element, axis).
template <class List, class Change>
result<output_shape> changed(shape_view in, const geometry::axis_list& axes, const List& list, std::string_view name,
                             Change change) {
  output_shape out{in};
  if (list.size() != axes.size())
    return invalid(name, " has ", list.size(), " elements, must have ", axes.size(), " for input ", in.sizes);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const result<dim> size = change(out[axes[i]], list[i], axes[i]);
    if (!size) return size.error();
    out[axes[i]] = *size;
  }
  return out;
}

result<output_shape> upsampled(const infer_context& c, shape_view in) {
  const geometry::axis_list axes = geometry::axis_list::all(in.rank());
  const attributes_of<op::Upsample> a{c.attributes()};
  const float plane[] = {1, 1, a.height_scale, a.width_scale};
  if (c.version().since < 7) return changed(in, axes, std::span{plane}, "scales", scaled);
  if (c.version().since < 9) return changed(in, axes, a.scales, "scales", scaled);
  if (const auto scales = constant_floats(c, 1)) return changed(in, axes, *scales, "scales", scaled);
  return output_shape{geometry::sizes<dim>(in.rank(), dim{})};
}

result<output_shape> resized(const infer_context& c, shape_view in) {
  const attributes_of<op::Resize> a{c.attributes()};
  const bool stretch = a.keep_aspect_ratio_policy == op::keep_aspect_ratio_policy_choice::stretch;
  const result<geometry::axis_list> listed = geometry::axes_of<dim>(a.axes, in.rank(), "attribute axes");
  if (!listed) return listed.error();
  const geometry::axis_list axes = a.axes.empty() ? geometry::axis_list::all(in.rank()) : *listed;
  const auto fixed = [&](dim, std::int64_t size, std::size_t axis) -> result<dim> {
    if (size < 0) return invalid("sizes has ", size, " for axis ", axis, ", must have 0 or more");
    return stretch ? dim::fixed(size) : dim{};
  };
  const int_list sizes = ints_of_input(c, 3);
  if (sizes.state == int_list::known && !(sizes.values.empty() && axes.size() > 0))
    return changed(in, axes, sizes.values, "sizes", fixed);
  const std::optional<std::vector<float>> scales = constant_floats(c, 2);
  if (scales && !scales->empty()) return changed(in, axes, *scales, "scales", scaled);
  const dims* const elements = elements_at(c, 3);
  if (elements && elements->size() == in.rank() && a.axes.empty() && stretch) return output_shape{view_of(elements)};
  return output_shape{geometry::sizes<dim>(in.rank(), dim{})};
}

status give_resized(infer_context& c, result<output_shape> (*to)(const infer_context&, shape_view)) {
  const shape_view in = shape_of(c, 0);
  return give(c, 0, c.element(0), in ? to(c, in) : output_shape{});
}

}  // namespace

status upsample(infer_context& c) { return give_resized(c, upsampled); }
status resize(infer_context& c) { return give_resized(c, c.version().since < 11 ? upsampled : resized); }

}  // namespace CAMEO_NAMESPACE::infer
