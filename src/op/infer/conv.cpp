// Operators that slide a window over the spatial axes: [N, C, spatial...] in and out.
#include "infer_list.hpp"
#include "tools.hpp"

#include <cameo/core/checked.hpp>

namespace CAMEO_NAMESPACE::infer {
namespace {

enum class padding { given, same, none };

/// A sliding window, checked: every list has one entry per spatial axis (pads two); kernel sizes may be unknown.
struct window_rule {
  dims kernel;
  std::vector<std::int64_t> strides, dilations, pads;
  padding pad = padding::given;
  infer_context* pool = nullptr;  // set for a pool, whose kernel may be larger than the padded input: see places()
};

result<std::vector<std::int64_t>> list_of(const infer_context& c, std::string_view name, std::size_t count,
                                          std::int64_t otherwise, std::int64_t least) {
  const std::span<const std::int64_t> given = c.ints_or(name);
  if (given.empty()) return std::vector<std::int64_t>(count, otherwise);
  if (given.size() != count) return invalid("attribute ", name, " has ", given.size(), " elements, must have ", count);
  for (std::int64_t n : given)
    if (n < least || n > INT32_MAX)
      return invalid("attribute ", name, " has ", n, ", must be from ", least, " to ", std::int64_t{INT32_MAX});
  return std::vector<std::int64_t>(given.begin(), given.end());
}

/// The window of a node. `kernel` is the window of its weight, if it has one.
result<window_rule> window_of(const infer_context& c, std::size_t axes, std::optional<dims> kernel) {
  window_rule w;
  const std::span<const std::int64_t> named = c.ints_or("kernel_shape");
  if (!named.empty() && named.size() != axes)
    return invalid("attribute kernel_shape has ", named.size(), " elements, must have ", axes,
                   ", the number of spatial axes");
  w.kernel = kernel ? std::move(*kernel) : dims(axes);
  for (std::size_t i = 0; i < named.size(); ++i) {
    result<dim> one = unify(w.kernel[i], dim::fixed(named[i]), "kernel_shape and the weight's size");
    if (named[i] < 1) return invalid("attribute kernel_shape has ", named[i], ", must be 1 or more");
    if (!one) return one.error();
    w.kernel[i] = *one;
  }
  for (dim k : w.kernel)
    if (k.known() && (k.size < 1 || k.size > INT32_MAX))
      return invalid("the kernel has shape ", w.kernel, ", sizes must be from 1 to ", std::int64_t{INT32_MAX});
  result<std::vector<std::int64_t>> strides = list_of(c, "strides", axes, 1, 1),
                                    dilations = list_of(c, "dilations", axes, 1, 1),
                                    pads = list_of(c, "pads", 2 * axes, 0, 0);
  for (result<std::vector<std::int64_t>>* list : {&strides, &dilations, &pads})
    if (!*list) return list->error();
  w.strides = std::move(*strides), w.dilations = std::move(*dilations), w.pads = std::move(*pads);
  const std::string_view mode = c.string_or("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") w.pad = padding::same;
  else if (mode == "VALID") w.pad = padding::none;
  else if (mode != "NOTSET" && !mode.empty())
    return invalid("attribute auto_pad is ", mode, ", must be NOTSET, SAME_UPPER, SAME_LOWER or VALID");
  return w;
}

/// The extent of the kernel with its dilation. Both factors fit 31 bits, so the product fits 63.
std::int64_t reach(const window_rule& w, std::size_t i) { return (w.kernel[i].size - 1) * w.dilations[i] + 1; }

std::int64_t pad_before(const window_rule& w, std::size_t i) { return w.pad == padding::given ? w.pads[i] : 0; }
std::int64_t pad_after(const window_rule& w, std::size_t i) {
  return w.pad == padding::given ? w.pads[w.kernel.size() + i] : 0;
}

/// The number of window positions along spatial axis i. A pool's window that is larger than the padded input has one
/// position if it is larger by less than a stride, and none if by less than two: ONNX Runtime's division rounds toward
/// zero.
result<dim> places(const window_rule& w, std::size_t i, dim in, bool round_up) {
  const std::int64_t stride = w.strides[i];
  if (w.pad == padding::same) {
    if (!in.known()) return stride == 1 ? in : dim{};
    return dim::fixed(in.size / stride + (in.size % stride != 0));
  }
  if (!w.kernel[i].known()) return dim{};
  const std::int64_t before = pad_before(w, i), more = before + pad_after(w, i), needs = reach(w, i);
  if (!in.known()) return stride == 1 && more + 1 == needs ? in : dim{};
  std::int64_t padded = 0;
  if (!checked_add(in.size, more, padded))
    return invalid("spatial axis ", i, " of size ", in, " overflows with its pads");
  if (padded < needs && w.pool && (needs - padded) / stride < 2) {
    w.pool->report_large_window(i, needs, padded);
    return dim::fixed(1 - (needs - padded) / stride);
  }
  if (padded < needs)
    return invalid("the kernel reaches over ", needs, " elements of spatial axis ", i, ", which has ", padded,
                   " with its pads: the kernel must not be larger than the input");
  const std::int64_t room = padded - needs;
  std::int64_t count = room / stride + 1;
  // The last position, which rounding up adds, must begin inside the input or the pads before it.
  if (round_up && room % stride != 0 && room - room % stride < in.size + before - stride) ++count;
  return dim::fixed(count);
}

/// From [N, C, spatial...] to [N, channels, positions...].
result<dims> slid(const window_rule& w, const dims& in, dim channels, bool round_up) {
  dims out{in[0], channels};
  for (std::size_t i = 0; i + 2 < in.size(); ++i) {
    result<dim> count = places(w, i, in[i + 2], round_up);
    if (!count) return count.error();
    out.push_back(*count);
  }
  return out;
}

status check_groups(std::int64_t groups, dim channels, dim per_group, dim maps, std::string_view mapped) {
  if (groups < 1) return invalid("attribute group is ", groups, ", must be 1 or more");
  if (maps.known() && maps.size % groups != 0)
    return invalid("W has ", maps, " ", mapped, ", must have a multiple of group, ", groups);
  std::int64_t needs = 0;
  if (!channels.known() || !per_group.known()) return status_code::ok;
  if (checked_multiply(per_group.size, groups, needs) && needs == channels.size) return status_code::ok;
  return invalid("X has ", channels, " channels, must have ", per_group, " for each of ", groups, " groups");
}

/// Moves the channels of dims from the last axis to axis 1.
dims with_channels_second(const dims& x) {
  dims made{x[0], x.back()};
  made.insert(made.end(), x.begin() + 1, x.end() - 1);
  return made;
}
/// Moves the channels of dims from axis 1 to the last axis.
dims with_channels_last(const dims& x) {
  dims made{x[0]};
  made.insert(made.end(), x.begin() + 2, x.end());
  made.push_back(x[1]);
  return made;
}
/// The shape of input 0 as [N, C, spatial...]. The node may have channels last.
struct seen_input {
  const dims* shape;  // null: unknown
  bool channels_last;
  dims turned = {};

  seen_input(const infer_context& c, bool last) : shape{c.shape(0)}, channels_last{last} {
    if (last && shape && shape->size() >= 2) turned = with_channels_second(*shape), shape = &turned;
  }
  explicit seen_input(const infer_context& c) : seen_input(c, c.int_or("channels_last", 0) != 0) {}
  seen_input(const seen_input&) = delete;
  seen_input& operator=(const seen_input&) = delete;
  dims as_the_node_has(dims out) const { return channels_last && out.size() >= 2 ? with_channels_last(out) : out; }
};

/// Conv and its variants; the weight is input `weight`, the bias `bias`.
status convolve(infer_context& c, std::size_t weight, std::size_t bias, dtype type) {
  const seen_input seen{c};
  const dims *x = seen.shape, *w = c.shape(weight);
  if (x)
    if (status s = check_rank(*x, 3, std::size_t(-1), "X"); !s) return s;
  if (w)
    if (status s = x ? check_rank(*w, x->size(), "W") : check_rank(*w, 3, std::size_t(-1), "W"); !s) return s;
  const std::size_t spatial = x ? x->size() - 2 : w ? w->size() - 2 : 0;
  if (!spatial) return give(c, 0, type), status_code::ok;
  std::optional<dims> kernel;
  if (w) kernel = dims(w->begin() + 2, w->end());
  result<window_rule> rule = window_of(c, spatial, std::move(kernel));
  if (!rule) return rule.error();
  const dim maps = w ? (*w)[0] : dim{};
  if (status s = check_groups(c.int_or("group", 1), x ? (*x)[1] : dim{}, w ? (*w)[1] : dim{}, maps, "maps"); !s)
    return s;
  if (const dims* b = c.shape(bias)) {
    if (status s = check_rank(*b, 1, "the bias"); !s) return s;
    if (result<dim> size = unify((*b)[0], maps, "the bias's size and the number of maps"); !size) return size.error();
  }
  if (!x) return give(c, 0, type, dims(spatial + 2)), status_code::ok;
  result<dims> out = slid(*rule, *x, maps, false);
  if (!out) return out.error();
  give(c, 0, type, seen.as_the_node_has(std::move(*out)));
  return status_code::ok;
}

constexpr std::size_t no_input = std::size_t(-1);

}  // namespace

status conv(infer_context& c) { return convolve(c, 1, 2, c.element(0)); }
status conv_integer(infer_context& c) { return convolve(c, 1, no_input, dtype::i32); }
status deform_conv(infer_context& c) { return convolve(c, 1, 3, c.element(0)); }
status qlinear_conv(infer_context& c) { return convolve(c, 3, 8, c.element(7)); }

namespace {

/// The number of channels in blocks of 16, the last of which is padded.
dim in_blocks(dim channels) {
  if (!channels.known() || channels.size > INT64_MAX - 15) return dim{};
  return dim::fixed((channels.size + 15) / 16 * 16);
}

}  // namespace

status nchwc_conv(infer_context& c) {
  const dims *x = c.shape(0), *w = c.shape(1);
  if (x)
    if (status s = check_rank(*x, 4, "X"); !s) return s;
  if (w)
    if (status s = check_rank(*w, 4, "W"); !s) return s;
  std::optional<dims> kernel;
  if (w) kernel = dims(w->begin() + 2, w->end());
  result<window_rule> rule = window_of(c, 2, std::move(kernel));
  if (!rule) return rule.error();
  if (!x) return give(c, 0, c.element(0), dims(4)), status_code::ok;
  result<dims> out = slid(*rule, *x, w ? in_blocks((*w)[0]) : dim{}, false);
  if (!out) return out.error();
  give(c, 0, c.element(0), std::move(*out));
  return status_code::ok;
}

status nchwc_reorder_input(infer_context& c) {
  std::optional<dims> out;
  if (const dims* x = c.shape(0)) {
    if (status s = check_rank(*x, 4, "X"); !s) return s;
    const std::size_t at = c.int_or("channels_last", 0) ? 1 : 2;
    out = dims{(*x)[0], in_blocks((*x)[at == 1 ? 3 : 1]), (*x)[at], (*x)[at + 1]};
  }
  give(c, 0, c.element(0), std::move(out));
  return status_code::ok;
}

status nchwc_reorder_output(infer_context& c) {
  const std::int64_t channels = c.int_or("channels", 0);
  if (channels < 1) return invalid("attribute channels is ", channels, ", must be 1 or more");
  const dims* x = c.shape(0);
  if (!x) return give(c, 0, c.element(0), dims(4)), status_code::ok;
  if (status s = check_rank(*x, 4, "X"); !s) return s;
  if (result<dim> same =
          unify((*x)[1], in_blocks(dim::fixed(channels)), "the channels of X and the attribute, in blocks");
      !same)
    return same.error();
  if (c.int_or("channels_last", 0)) give(c, 0, c.element(0), dims{(*x)[0], (*x)[2], (*x)[3], dim::fixed(channels)});
  else give(c, 0, c.element(0), dims{(*x)[0], dim::fixed(channels), (*x)[2], (*x)[3]});
  return status_code::ok;
}

status nchwc_upsample(infer_context& c) {
  const std::span<const std::int64_t> scales = c.ints_or("scales");
  if (scales.size() != 4) return invalid("attribute scales has ", scales.size(), " elements, must have 4");
  std::optional<dims> out;
  if (const dims* x = c.shape(0)) {
    if (status s = check_rank(*x, 4, "X"); !s) return s;
    out = *x;
    for (std::size_t i = 0; i < 4; ++i) {
      const dim both[] = {(*x)[i], dim::fixed(scales[i])};
      if (scales[i] < 1) return invalid("attribute scales has ", scales[i], ", must be 1 or more");
      result<dim> size = product(both);
      if (!size) return size.error();
      (*out)[i] = *size;
    }
  }
  give(c, 0, c.element(0), std::move(out));
  return status_code::ok;
}

namespace {

/// The output size of ConvTranspose: stride * (in - 1) + output_padding + reach - pads.
result<dim> spread(const window_rule& w, std::size_t i, dim in, std::int64_t extra) {
  std::int64_t size = 0;
  if (w.pad == padding::same) {
    if (!in.known()) return w.strides[i] == 1 ? in : dim{};
    if (checked_multiply(in.size, w.strides[i], size)) return dim::fixed(size);
  } else {
    if (!in.known() || !w.kernel[i].known()) return dim{};
    const std::int64_t more = extra + reach(w, i) - pad_before(w, i) - pad_after(w, i);
    if (checked_multiply(in.size - 1, w.strides[i], size) && checked_add(size, more, size) && size >= 0)
      return dim::fixed(size);
  }
  return invalid("spatial axis ", i, " of size ", in, " gets size ", size, ", must be from 0 to 2^63 - 1: see pads");
}

/// The spatial sizes that a ConvTranspose requests; old models have N and C before them.
result<std::optional<dims>> asked_spatial(const infer_context& c, std::size_t spatial) {
  std::span<const std::int64_t> asked = c.ints_or("output_shape");
  if (asked.empty()) return std::optional<dims>{};
  if (asked.size() == spatial + 2) asked = asked.subspan(2);
  if (asked.size() != spatial)
    return invalid("attribute output_shape has ", asked.size(), " elements, must have ", spatial);
  dims sizes;
  for (std::int64_t size : asked) {
    if (size < 0) return invalid("attribute output_shape has ", size, ", must be 0 or more");
    sizes.push_back(dim::fixed(size));
  }
  return std::optional<dims>{std::move(sizes)};
}

result<dims> spread_all(const infer_context& c, const window_rule& w, const dims& x) {
  const std::size_t spatial = x.size() - 2;
  result<std::vector<std::int64_t>> extra = list_of(c, "output_padding", spatial, 0, 0);
  if (!extra) return extra.error();
  dims out;
  for (std::size_t i = 0; i < spatial; ++i) {
    result<dim> size = spread(w, i, x[i + 2], (*extra)[i]);
    if (!size) return size.error();
    out.push_back(*size);
  }
  return out;
}

}  // namespace

status conv_transpose(infer_context& c) {
  const dims *x = c.shape(0), *w = c.shape(1);
  if (!x) return give(c, 0, c.element(0)), status_code::ok;
  if (status s = check_rank(*x, 3, std::size_t(-1), "X"); !s) return s;
  const std::size_t spatial = x->size() - 2;
  std::optional<dims> kernel;
  dim maps;
  const std::int64_t groups = c.int_or("group", 1);
  if (groups < 1) return invalid("attribute group is ", groups, ", must be 1 or more");
  if (w) {
    if (status s = check_rank(*w, x->size(), "W"); !s) return s;
    kernel = dims(w->begin() + 2, w->end());
    if (result<dim> channels = unify((*x)[1], (*w)[0], "the channels of X and W"); !channels) return channels.error();
    if ((*w)[0].known() && (*w)[0].size % groups != 0)
      return invalid("W has ", (*w)[0], " channels, must have a multiple of group, ", groups);
    const dim both[] = {(*w)[1], dim::fixed(groups)};
    result<dim> all = product(both);
    if (!all) return all.error();
    maps = *all;
  }
  result<window_rule> rule = window_of(c, spatial, std::move(kernel));
  if (!rule) return rule.error();
  dims out{(*x)[0], maps};
  result<std::optional<dims>> asked = asked_spatial(c, spatial);
  if (!asked) return asked.error();
  if (!*asked) {
    result<dims> sizes = spread_all(c, *rule, *x);
    if (!sizes) return sizes.error();
    *asked = std::move(*sizes);
  }
  out.insert(out.end(), (*asked)->begin(), (*asked)->end());
  give(c, 0, c.element(0), std::move(out));
  return status_code::ok;
}

namespace {

status pool(infer_context& c, const seen_input& seen) {
  std::optional<dims> out;
  if (const dims* x = seen.shape) {
    if (status s = check_rank(*x, 3, std::size_t(-1), "X"); !s) return s;
    result<window_rule> rule = window_of(c, x->size() - 2, {});
    if (!rule) return rule.error();
    rule->pool = &c;
    result<dims> shape = slid(*rule, *x, (*x)[1], c.int_or("ceil_mode", 0) != 0);
    if (!shape) return shape.error();
    out = seen.as_the_node_has(std::move(*shape));
  }
  give(c, 0, c.element(0), out);
  give(c, 1, dtype::i64, std::move(out));  // MaxPool's indices
  return status_code::ok;
}

}  // namespace

status pool(infer_context& c) { return pool(c, seen_input{c}); }
status pool_of_channels_last(infer_context& c) { return pool(c, seen_input{c, true}); }

status global_pool(infer_context& c) {
  std::optional<dims> out;
  const seen_input seen{c};
  if (const dims* x = seen.shape) {
    if (status s = check_rank(*x, 2, std::size_t(-1), "X"); !s) return s;
    out = dims(x->size(), dim::fixed(1));
    (*out)[0] = (*x)[0], (*out)[1] = (*x)[1];
    out = seen.as_the_node_has(std::move(*out));
  }
  give(c, 0, c.element(0), std::move(out));
  return status_code::ok;
}

status max_unpool(infer_context& c) {
  std::optional<dims> out;
  const dims* x = c.shape(0);
  if (x)
    if (status s = check_rank(*x, 3, std::size_t(-1), "X"); !s) return s;
  const int_list asked = ints_of_input(c, 2);
  if (x && asked.state == int_list::absent) {
    result<window_rule> rule = window_of(c, x->size() - 2, {});
    if (!rule) return rule.error();
    result<dims> sizes = spread_all(c, *rule, *x);
    if (!sizes) return sizes.error();
    out = dims{(*x)[0], (*x)[1]};
    out->insert(out->end(), sizes->begin(), sizes->end());
  } else if (x) {
    out = dims(x->size());
    if (asked.state == int_list::known && asked.values.size() != x->size())
      return invalid("output_shape has ", asked.values.size(), " elements, must have ", x->size(), " for X ", *x);
    for (std::size_t i = 0; i < asked.values.size(); ++i) {
      if (asked.values[i] < 0) return invalid("output_shape has ", asked.values[i], ", must be 0 or more");
      (*out)[i] = dim::fixed(asked.values[i]);
    }
  }
  give(c, 0, c.element(0), std::move(out));
  return status_code::ok;
}

status max_roi_pool(infer_context& c) {
  const std::span<const std::int64_t> pooled = c.ints_or("pooled_shape");
  const dims *x = c.shape(0), *rois = c.shape(1);
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1)
    return invalid("attribute pooled_shape must be two sizes of 1 or more");
  if (x)
    if (status s = check_rank(*x, 4, "X"); !s) return s;
  if (rois)
    if (status s = check_rank(*rois, 2, "rois"); !s) return s;
  give(c, 0, c.element(0),
       dims{rois ? (*rois)[0] : dim{}, x ? (*x)[1] : dim{}, dim::fixed(pooled[0]), dim::fixed(pooled[1])});
  return status_code::ok;
}

status roi_align(infer_context& c) {
  const std::int64_t height = c.int_or("output_height", 1), width = c.int_or("output_width", 1);
  if (height < 1 || width < 1)
    return invalid("attributes output_height and output_width are ", height, " and ", width, ", must be 1 or more");
  const dims *x = c.shape(0), *rois = c.shape(1);
  if (x)
    if (status s = check_rank(*x, 4, "X"); !s) return s;
  if (rois)
    if (status s = check_rank(*rois, 2, "rois"); !s) return s;
  give(c, 0, c.element(0), dims{rois ? (*rois)[0] : dim{}, x ? (*x)[1] : dim{}, dim::fixed(height), dim::fixed(width)});
  return status_code::ok;
}

status grid_sample(infer_context& c) {
  const dims *x = c.shape(0), *grid = c.shape(1);
  std::optional<dims> out;
  if (x && grid) {
    if (status s = check_rank(*x, 3, std::size_t(-1), "X"); !s) return s;
    if (status s = check_rank(*grid, x->size(), "grid"); !s) return s;
    out = dims{(*x)[0], (*x)[1]};
    out->insert(out->end(), grid->begin() + 1, grid->end() - 1);
  }
  give(c, 0, c.element(0), std::move(out));
  return status_code::ok;
}

}  // namespace CAMEO_NAMESPACE::infer
