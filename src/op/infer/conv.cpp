// Operators that slide a window over the spatial axes: [N, C, spatial...] in and out.
#include "infer_list.hpp"
#include "tools.hpp"

#include <cameo/geometry/conv.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/attributes/nchwc.hpp>
#include <cameo/op/attributes/onnx.hpp>
#include <cameo/op/read_window.hpp>

namespace CAMEO_NAMESPACE::infer {
namespace {

using placed_window = geometry::basic_placed_window<dim>;

/// [N, channels, positions...] of X [N, C, spatial...].
dims slid(const placed_window& w, const dims& x, dim channels) {
  dims out{x[0], channels};
  for (std::size_t i = 0; i < w.rank; ++i) out.push_back(w.axes[i].out);
  return out;
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
  seen_input(const seen_input&) = delete;
  seen_input& operator=(const seen_input&) = delete;
  dims as_the_node_has(dims out) const { return channels_last && out.size() >= 2 ? with_channels_last(out) : out; }
};

/// Conv and its variants; the weight is input `weight`, the bias `bias`.
status convolve(infer_context& c, std::size_t weight, std::size_t bias, dtype type) {
  const attributes_of<op::microsoft::QLinearConv> a{c.attributes()};
  const seen_input seen{c, a.channels_last != 0};
  const dims *x = seen.shape, *w = c.shape(weight);
  const geometry::window shape = detail::read_window(c.attributes());
  const auto made = geometry::conv_of(shape, a.group, view_of(x), view_of(w), view_of(c.shape(bias)));
  if (!made) return made.error();
  if (x) give(c, 0, type, seen.as_the_node_has(slid(made->window, *x, made->maps)));
  else give(c, 0, type, w ? std::optional{dims(w->size())} : std::nullopt);
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
  const geometry::window shape = detail::read_window(c.attributes());
  if (!x) return give(c, 0, c.element(0), dims(4));
  const shape_view kernel = w ? view_of(w).sizes.subspan(2) : shape_view{};
  const result<placed_window> placed = shape.place(view_of(x), kernel);
  if (!placed) return placed.error();
  return give(c, 0, c.element(0), slid(*placed, *x, w ? in_blocks((*w)[0]) : dim{}));
}

status nchwc_reorder_input(infer_context& c) {
  std::optional<dims> out;
  if (const dims* x = c.shape(0)) {
    const std::size_t at = attributes_of<op::nchwc::ReorderInput>{c.attributes()}.channels_last ? 1 : 2;
    out = dims{(*x)[0], in_blocks((*x)[at == 1 ? 3 : 1]), (*x)[at], (*x)[at + 1]};
  }
  return give(c, 0, c.element(0), std::move(out));
}

status nchwc_reorder_output(infer_context& c) {
  const attributes_of<op::nchwc::ReorderOutput> a{c.attributes()};
  const dims* x = c.shape(0);
  if (!x) return give(c, 0, c.element(0), dims(4));
  const dim channels = dim::fixed(a.channels);
  if (result<dim> same = unify((*x)[1], in_blocks(channels), "the channels of X and the attribute, in blocks"); !same)
    return same.error();
  return give(c, 0, c.element(0),
              a.channels_last ? dims{(*x)[0], (*x)[2], (*x)[3], channels} : dims{(*x)[0], channels, (*x)[2], (*x)[3]});
}

status nchwc_upsample(infer_context& c) {
  const attributes_of<op::nchwc::Upsample> a{c.attributes()};
  std::optional<dims> out;
  if (const dims* x = c.shape(0)) {
    out = *x;
    for (std::size_t i = 0; i < 4; ++i) {
      const dim both[] = {(*x)[i], dim::fixed(a.scales[i])};
      result<dim> size = product(both);
      if (!size) return size.error();
      (*out)[i] = *size;
    }
  }
  return give(c, 0, c.element(0), std::move(out));
}

status conv_transpose(infer_context& c) {
  const attributes_of<op::ConvTranspose> a{c.attributes()};
  const dims *x = c.shape(0), *w = c.shape(1);
  const geometry::window shape = detail::read_window(c.attributes());
  const auto made = geometry::conv_transpose_of(shape, a.group, view_of(x), view_of(w), view_of(c.shape(2)),
                                                a.output_padding, a.output_shape);
  if (!made) return made.error();
  if (!x) return give(c, 0, c.element(0));
  dims out{(*x)[0], made->maps};
  for (std::size_t i = 0; i < made->window.rank; ++i) out.push_back(made->window.axes[i].in);
  return give(c, 0, c.element(0), std::move(out));
}

namespace {

status pool(infer_context& c, const seen_input& seen) {
  std::optional<dims> out;
  const geometry::window shape = detail::read_window(c.attributes());
  if (const dims* x = seen.shape) {
    const result<placed_window> placed = shape.place(view_of(x), {}, true);
    if (!placed) return placed.error();
    for (std::size_t i = 0; i < placed->rank; ++i) {
      const auto& a = placed->axes[i];
      if (!a.in.known() || !a.kernel.known()) continue;
      const std::int64_t reach = (a.kernel.size - 1) * a.dilation + 1, padded = a.in.size + a.pad_begin + a.pad_end;
      if (reach > padded) c.report_large_window(i, reach, padded);
    }
    out = seen.as_the_node_has(slid(*placed, *x, (*x)[1]));
  }
  give(c, 0, c.element(0), out);
  give(c, 1, dtype::i64, std::move(out));  // MaxPool's indices
  return status_code::ok;
}

}  // namespace

status pool(infer_context& c) {
  return pool(c, {c, attributes_of<op::microsoft::QLinearAveragePool>{c.attributes()}.channels_last != 0});
}
status pool_of_channels_last(infer_context& c) { return pool(c, {c, true}); }

status global_pool(infer_context& c) {
  std::optional<dims> out;
  const seen_input seen{c, attributes_of<op::microsoft::QLinearGlobalAveragePool>{c.attributes()}.channels_last != 0};
  if (const dims* x = seen.shape) {
    out = dims(x->size(), dim::fixed(1));
    (*out)[0] = (*x)[0], (*out)[1] = (*x)[1];
    out = seen.as_the_node_has(std::move(*out));
  }
  return give(c, 0, c.element(0), std::move(out));
}

status max_unpool(infer_context& c) {
  std::optional<dims> out;
  const dims* x = c.shape(0);
  if (status s = check_rank(x, 3, std::size_t(-1), "X"); !s) return s;
  const int_list asked = ints_of_input(c, 2);
  if (x && asked.state == int_list::absent) {
    const geometry::window shape = detail::read_window(c.attributes());
    const result<placed_window> placed = shape.place_transposed(view_of(x), {}, {}, {});
    if (!placed) return placed.error();
    out = dims{(*x)[0], (*x)[1]};
    for (std::size_t i = 0; i < placed->rank; ++i) out->push_back(placed->axes[i].in);
  } else if (x) {
    out = dims(x->size());
    if (asked.state == int_list::known && asked.values.size() != x->size())
      return invalid("output_shape has ", asked.values.size(), " elements, must have ", x->size(), " for X ", *x);
    for (std::size_t i = 0; i < asked.values.size(); ++i) {
      if (asked.values[i] < 0) return invalid("output_shape has ", asked.values[i], ", must be 0 or more");
      (*out)[i] = dim::fixed(asked.values[i]);
    }
  }
  return give(c, 0, c.element(0), std::move(out));
}

status max_roi_pool(infer_context& c) {
  const attribute_list<std::int64_t> pooled = attributes_of<op::MaxRoiPool>{c.attributes()}.pooled_shape;
  const dims *x = c.shape(0), *rois = c.shape(1);
  return give(c, 0, c.element(0),
              dims{rois ? (*rois)[0] : dim{}, x ? (*x)[1] : dim{}, dim::fixed(pooled[0]), dim::fixed(pooled[1])});
}

status roi_align(infer_context& c) {
  const attributes_of<op::RoiAlign> a{c.attributes()};
  const dims *x = c.shape(0), *rois = c.shape(1);
  return give(
      c, 0, c.element(0),
      dims{rois ? (*rois)[0] : dim{}, x ? (*x)[1] : dim{}, dim::fixed(a.output_height), dim::fixed(a.output_width)});
}

status grid_sample(infer_context& c) {
  const dims *x = c.shape(0), *grid = c.shape(1);
  std::optional<dims> out;
  if (x && grid) {
    if (status s = check_rank(grid, x->size(), x->size(), "grid"); !s) return s;
    out = dims{(*x)[0], (*x)[1]};
    out->insert(out->end(), grid->begin() + 1, grid->end() - 1);
  }
  return give(c, 0, c.element(0), std::move(out));
}

}  // namespace CAMEO_NAMESPACE::infer
