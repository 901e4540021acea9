// Operators that join, split and resize tensors: Concat, Split, Slice, Pad, Resize.
#include "infer_list.hpp"
#include "tools.hpp"

#include <cameo/core/checked.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <algorithm>
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

status join(dims& out, const dims& in, std::size_t axis, std::size_t input) {
  if (in.size() != out.size())
    return invalid("input 0 has rank ", out.size(), " and input ", input, " has shape ", in, ", ranks must be equal");
  for (std::size_t k = 0; k < in.size(); ++k) {
    result<dim> d = k == axis ? sum(out[k], in[k]) : unify(out[k], in[k], "dims outside the axis of concatenation");
    if (!d) return d.error();
    out[k] = *d;
  }
  return status_code::ok;
}

/// Concatenates inputs `first`, `first + step`, ...
status concat_of(infer_context& c, std::size_t first, std::size_t step, std::int64_t asked) {
  std::optional<dims> out;
  std::size_t axis = 0;
  bool unknown = false;
  for (std::size_t i = first; i < c.input_count(); i += step) {
    const dims* in = c.shape(i);
    if (!in) {
      unknown = true;
    } else if (!out) {
      result<std::size_t> found = axis_in(asked, in->size());
      if (!found) return found.error();
      axis = *found;
      out = *in;
    } else if (status s = join(*out, *in, axis, i); !s) {
      return s;
    }
  }
  if (out && unknown) (*out)[axis] = dim{};
  dtype type = dtype::undefined;
  for (std::size_t i = first; i < c.input_count() && type == dtype::undefined; i += step) type = c.element(i);
  give(c, 0, type, std::move(out));
  if (step == 1 && c.input_count() && !unknown && axis == 0) give_joined_elements(c);
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

namespace {

/// The sizes of Split's outputs; std::nullopt if they are unknown.
result<std::optional<std::vector<std::int64_t>>> parts_of(const infer_context& c, const attributes_of<op::Split>& a,
                                                          dim whole, std::size_t count) {
  using parts = std::optional<std::vector<std::int64_t>>;
  int_list given = ints_of(a.split, c, 1);
  if (given.state == int_list::known) {
    if (given.values.size() != count)
      return invalid("split has ", given.values.size(), " sizes, must have one for each of ", count, " outputs");
    std::int64_t all = 0;
    for (std::int64_t size : given.values)
      if (size < 0 || !checked_add(all, size, all)) return invalid("split has a size of ", size, ", must be 0 or more");
    if (whole.known() && all != whole.size)
      return invalid("the sizes in split add up to ", all, ", must add up to ", whole, ", the size of the axis");
    return parts{std::move(given.values)};
  }
  if (a.num_outputs.value_or(std::int64_t(count)) != std::int64_t(count))
    return invalid("attribute num_outputs is ", *a.num_outputs, ", must be ", count, ", the number of outputs");
  if (given.state == int_list::unknown || !whole.known() || !count) return parts{};
  const std::int64_t n = std::int64_t(count);
  const std::int64_t chunk = whole.size / n + (whole.size % n != 0);
  if (c.version().since < 18 && whole.size % n != 0)
    return invalid("axis has size ", whole, ", must be a multiple of ", count,
                   ", the number of outputs, or need split");
  std::vector<std::int64_t> sizes;
  for (std::int64_t left = whole.size; sizes.size() < count; left -= sizes.back())
    sizes.push_back(std::min(left, chunk));  // from version 18, the last part may be smaller
  return parts{std::move(sizes)};
}

}  // namespace

status split(infer_context& c) {
  const dims* in = c.shape(0);
  if (!in) {
    for (std::size_t i = 0; i < c.output_count(); ++i) give(c, i, c.element(0));
    return status_code::ok;
  }
  const attributes_of<op::Split> a{c.attributes()};
  result<std::size_t> axis = axis_in(a.axis.value_or(0), in->size());
  if (!axis) return axis.error();
  result<std::optional<std::vector<std::int64_t>>> parts = parts_of(c, a, (*in)[*axis], c.output_count());
  if (!parts) return parts.error();
  for (std::size_t i = 0; i < c.output_count(); ++i) {
    dims out = *in;
    out[*axis] = *parts ? dim::fixed((**parts)[i]) : dim{};
    give(c, i, c.element(0), std::move(out));
  }
  return status_code::ok;
}

namespace {

/// One axis of a slice, clamped as ONNX specifies: `count` elements from `first`, `step` apart.
struct cut {
  std::int64_t first = 0, step = 1, count = 0;
};

cut cut_of(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto place = [&](std::int64_t at, std::int64_t least, std::int64_t most) {
    return std::clamp(at < 0 ? at + size : at, least, most);
  };
  cut made{0, step, 0};
  if (step > 0) {
    made.first = place(start, 0, size);
    const std::int64_t last = place(end, 0, size);
    if (made.first < last) made.count = (last - made.first - 1) / step + 1;
  } else if (size > 0) {
    made.first = place(start, 0, size - 1);
    const std::int64_t last = place(end, -1, size - 1);
    const std::uint64_t stride = -std::uint64_t(step);  // also for INT64_MIN
    if (made.first > last) made.count = std::int64_t(std::uint64_t(made.first - last - 1) / stride) + 1;
  }
  return made;
}

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

status slice_axis(dim& d, std::size_t i, const slice_arguments& a) {
  const bool stepped = a.steps.state != int_list::absent;
  const std::int64_t step = a.steps.state == int_list::known ? a.steps.values[i] : 1;
  if (step == 0) return invalid("steps is 0 at ", i, ", must not be");
  const bool known = a.starts.state == int_list::known && a.ends.state == int_list::known &&
                     (!stepped || a.steps.state == int_list::known);
  if (known && d.known()) {
    d = dim::fixed(cut_of(d.size, a.starts.values[i], a.ends.values[i], step).count);
  } else if (!known || step != 1 || a.starts.values[i] != 0 || a.ends.values[i] < INT32_MAX) {
    d = dim{};  // otherwise the slice is the whole axis
  }
  return status_code::ok;
}

void give_sliced_elements(infer_context& c, const slice_arguments& a) {
  const dims *elements = elements_at(c, 0), *shape = c.shape(0);
  const bool known = a.starts.state == int_list::known && a.ends.state == int_list::known &&
                     a.axes.state != int_list::unknown && a.steps.state != int_list::unknown;
  if (!elements || !shape || shape->size() != 1 || !known || a.starts.values.size() != 1) return;
  const cut at = cut_of(std::int64_t(elements->size()), a.starts.values[0], a.ends.values[0],
                        a.steps.state == int_list::known ? a.steps.values[0] : 1);
  dims kept;
  for (std::int64_t i = 0; i < at.count; ++i) kept.push_back((*elements)[std::size_t(at.first + i * at.step)]);
  give_elements(c, 0, std::move(kept));
}

}  // namespace

status slice(infer_context& c) {
  const dims* in = c.shape(0);
  slice_arguments a = slice_arguments_of(c);
  std::optional<dims> out;
  if (in) out = dims(in->size());
  std::size_t count = std::size_t(-1);
  for (const int_list* list : {&a.starts, &a.ends, &a.axes, &a.steps}) {
    if (list->state != int_list::known) continue;
    if (count != std::size_t(-1) && list->values.size() != count)
      return invalid("starts, ends, axes and steps have ", count, " and ", list->values.size(),
                     " elements, must have equally many");
    count = list->values.size();
  }
  if (in && count != std::size_t(-1) && a.axes.state != int_list::unknown) {
    if (a.axes.state == int_list::absent)
      for (std::size_t i = 0; i < count; ++i) a.axes.values.push_back(std::int64_t(i));
    result<std::vector<std::size_t>> axes = axes_in(a.axes.values, in->size());
    if (!axes) return axes.error();
    out = *in;
    for (std::size_t i = 0; i < count; ++i)
      if (status s = slice_axis((*out)[(*axes)[i]], i, a); !s) return s;
  }
  give(c, 0, c.element(0), std::move(out));
  if (in && !in->empty()) give_sliced_elements(c, a);
  return status_code::ok;
}

status pad(infer_context& c) {
  const attributes_of<op::Pad> a{c.attributes()};
  const dims* in = c.shape(0);
  const int_list pads = c.version().since < 2 ? ints_of(a.paddings) : ints_of(a.pads, c, 1);
  const int_list axes = c.version().since >= 18 ? ints_of_input(c, 3) : int_list{};
  std::optional<dims> out;
  if (in) out = dims(in->size());
  if (in && pads.state == int_list::known && axes.state != int_list::unknown) {
    std::vector<std::size_t> padded = axes_of(in->size());
    if (axes.state == int_list::known) {
      result<std::vector<std::size_t>> known = axes_in(axes.values, in->size());
      if (!known) return known.error();
      padded = std::move(*known);
    }
    if (pads.values.size() != 2 * padded.size())
      return invalid("pads has ", pads.values.size(), " elements, must have ", 2 * padded.size(), " for input ", *in);
    out = *in;
    for (std::size_t i = 0; i < padded.size(); ++i) {
      const std::int64_t before = pads.values[i], after = pads.values[padded.size() + i];
      dim& d = (*out)[padded[i]];
      std::int64_t size = 0;
      if (!d.known()) {
        if (before != 0 || after != 0) d = dim{};
      } else if (!checked_add(d.size, before, size) || !checked_add(size, after, size) || size < 0) {
        return invalid("pads are ", before, " and ", after, " at axis ", padded[i], " of ", *in,
                       ", must leave a size from 0 to 2^63 - 1");
      } else {
        d = dim::fixed(size);
      }
    }
  }
  return give(c, 0, c.element(0), std::move(out));
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

status give_scaled(infer_context& c, std::span<const float> scales, const std::vector<std::size_t>& axes) {
  dims out = *c.shape(0);
  if (scales.size() != axes.size())
    return invalid("scales has ", scales.size(), " elements, must have ", axes.size(), " for input ", out);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    result<dim> size = scaled(out[axes[i]], scales[i], axes[i]);
    if (!size) return size.error();
    out[axes[i]] = *size;
  }
  return give(c, 0, c.element(0), std::move(out));
}

}  // namespace

status upsample(infer_context& c) {
  const dims* in = c.shape(0);
  give(c, 0, c.element(0), in ? std::optional<dims>{dims(in->size())} : std::nullopt);
  if (!in) return status_code::ok;
  const attributes_of<op::Upsample> a{c.attributes()};
  const std::vector<std::size_t> axes = axes_of(in->size());
  if (c.version().since >= 9) {
    const std::optional<std::vector<float>> scales = constant_floats(c, 1);
    return scales ? give_scaled(c, *scales, axes) : status{};
  }
  if (c.version().since >= 7) return give_scaled(c, a.scales, axes);
  const float scales[] = {1, 1, a.height_scale, a.width_scale};
  return give_scaled(c, scales, axes);
}

namespace {

status give_resized(infer_context& c, const std::vector<std::int64_t>& sizes, const std::vector<std::size_t>& axes,
                    bool stretch) {
  dims out = *c.shape(0);
  if (sizes.size() != axes.size())
    return invalid("sizes has ", sizes.size(), " elements, must have ", axes.size(), " for input ", out);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (sizes[i] < 0) return invalid("sizes is ", sizes[i], " at ", i, ", must be 0 or more");
    out[axes[i]] = stretch ? dim::fixed(sizes[i]) : dim{};
  }
  return give(c, 0, c.element(0), std::move(out));
}

}  // namespace

status resize(infer_context& c) {
  if (c.version().since < 11) return upsample(c);
  const dims* in = c.shape(0);
  give(c, 0, c.element(0), in ? std::optional<dims>{dims(in->size())} : std::nullopt);
  if (!in) return status_code::ok;
  const attributes_of<op::Resize> a{c.attributes()};
  const bool stretch = a.keep_aspect_ratio_policy == op::keep_aspect_ratio_policy_choice::stretch;
  result<std::vector<std::size_t>> axes =
      a.axes.empty() ? axes_of(in->size()) : axes_in(a.axes, in->size(), "attribute axes");
  if (!axes) return axes.error();
  const int_list sizes = ints_of_input(c, 3);
  if (sizes.state == int_list::known && !(sizes.values.empty() && !axes->empty()))
    return give_resized(c, sizes.values, *axes, stretch);
  const std::optional<std::vector<float>> scales = constant_floats(c, 2);
  if (scales && !scales->empty()) return give_scaled(c, *scales, *axes);
  if (const dims* elements = elements_at(c, 3); elements && elements->size() == in->size())
    if (a.axes.empty() && stretch) give(c, 0, c.element(0), *elements);
  return status_code::ok;
}

}  // namespace CAMEO_NAMESPACE::infer
