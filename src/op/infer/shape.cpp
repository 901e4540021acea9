#include <cameo/geometry/blocks.hpp>
#include <cameo/geometry/permutation.hpp>
#include <cameo/geometry/repeat.hpp>
#include <cameo/geometry/reshape.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "infer_list.hpp"
#include "tools.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::infer {

status shape(infer_context& c) {
  const dims* in = c.shape(0);
  if (!in) return give(c, 0, dtype::i64, dims{dim{}});
  // The attributes start and end count from the end if negative, and are clamped, not checked.
  const auto rank = std::int64_t(in->size());
  const auto place = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const attributes_of<op::Shape> a{c.attributes()};
  const std::int64_t first = place(a.start), last = place(a.end.value_or(rank));
  dims part;
  if (first < last) part.assign(in->begin() + first, in->begin() + last);
  give(c, 0, dtype::i64, dims{dim::fixed(std::int64_t(part.size()))});
  return give_elements(c, 0, std::move(part));
}

status size(infer_context& c) {
  give(c, 0, dtype::i64, dims{});
  if (const dims* in = c.shape(0)) {
    result<dim> count = product(*in);
    if (!count) return count.error();
    give_elements(c, 0, {*count});
  }
  return status_code::ok;
}

namespace {
/// The elements of the output are those of the input, if both are lists, or scalars.
void give_same_elements(infer_context& c) {
  if (const dims* const elements = elements_at(c, 0)) give_elements(c, 0, *elements);
}

/// An element of the target that is unknown may be -1, so the size is unknown. A symbol is a size and can't be -1. It
/// may be 0, but then the size is 0, too: models do not use it to copy a size.
result<output_shape> reshaped(const infer_context& c, const int_list& sizes) {
  const shape_view in = shape_of(c, 0);
  const bool allow_zero = attributes_of<op::Reshape>{c.attributes()}.allowzero != 0;
  const dims* const elements = elements_at(c, 1);
  if (sizes.state != int_list::known && !elements) return shape_in_elements(c, 1);
  const auto made = sizes.state == int_list::known ? geometry::reshape_of(in, sizes.values, allow_zero)
                                                   : geometry::reshape_of_unknown(in, *elements, allow_zero);
  if (!made) return made.error();
  return output_shape{*made};
}
}  // namespace

status reshape(infer_context& c) {
  int_list sizes = ints_of(attributes_of<op::Reshape>{c.attributes()}.shape);
  if (sizes.state == int_list::absent)
    if (std::optional<std::vector<std::int64_t>> constant = c.constant_ints(1))
      sizes = {int_list::known, std::move(*constant)};
  if (status s = give(c, 0, c.element(0), reshaped(c, sizes)); !s) return s;
  if (sizes.state == int_list::known && sizes.values.size() <= 1) give_same_elements(c);
  return status_code::ok;
}

status flatten(infer_context& c) {
  return give(c, 0, c.element(0),
              geometry::flatten_of<dim>(shape_of(c, 0), attributes_of<op::Flatten>{c.attributes()}.axis));
}

status transpose(infer_context& c) {
  return give(c, 0, c.element(0),
              geometry::transpose_of(shape_of(c, 0), attributes_of<op::Transpose>{c.attributes()}.perm));
}

status squeeze(infer_context& c) {
  const int_list axes = ints_of(attributes_of<op::Squeeze>{c.attributes()}.axes, c, 1);
  if (status s = give(c, 0, c.element(0), geometry::squeeze_of(shape_of(c, 0), axes)); !s) return s;
  give_same_elements(c);
  return status_code::ok;
}

status unsqueeze(infer_context& c) {
  const int_list axes = ints_of(attributes_of<op::Unsqueeze>{c.attributes()}.axes, c, 1);
  const auto made = geometry::unsqueeze_of(shape_of(c, 0), axes);
  if (status s = give(c, 0, c.element(0), made); !s) return s;
  if (made && made->is_known && made->rank() <= 1) give_same_elements(c);
  return status_code::ok;
}

status expand_dims(infer_context& c) {
  const std::optional<std::int64_t> axis = constant_int(c, 1);
  const int_list axes = axis ? int_list{int_list::known, {*axis}} : int_list{int_list::unknown};
  return give(c, 0, c.element(0), geometry::unsqueeze_of(shape_of(c, 0), axes));
}

status depth_to_space(infer_context& c) {
  return give(c, 0, c.element(0),
              geometry::depth_to_space_of(shape_of(c, 0), attributes_of<op::DepthToSpace>{c.attributes()}.blocksize));
}
status space_to_depth(infer_context& c) {
  return give(c, 0, c.element(0),
              geometry::space_to_depth_of(shape_of(c, 0), attributes_of<op::SpaceToDepth>{c.attributes()}.blocksize));
}

status tile(infer_context& c) {
  if (c.version().since >= 6) return give(c, 0, c.element(0), geometry::tile_of(shape_of(c, 0), ints_of_input(c, 1)));
  const std::optional<std::int64_t> tiles = constant_int(c, 1), axis = constant_int(c, 2);
  if (tiles && axis) return give(c, 0, c.element(0), geometry::tile_of_axis(shape_of(c, 0), *tiles, *axis));
  return give(c, 0, c.element(0), geometry::tile_of(shape_of(c, 0), geometry::number_list::unknown()));
}

}  // namespace CAMEO_NAMESPACE::infer
