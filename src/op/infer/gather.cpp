// Operators that read or write elements by index.
#include <cameo/geometry/gather.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "infer_list.hpp"
#include "tools.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::infer {
namespace {

void give_gathered_elements(infer_context& c) {
  const dims* const elements = elements_at(c, 0);
  const shape_view shape = shape_of(c, 0), at = shape_of(c, 1);
  const int_list indices = ints_of_input(c, 1);
  if (!elements || shape.rank() != 1 || !at || at.rank() > 1 || indices.state != int_list::known) return;
  const auto count = std::int64_t(elements->size());
  dims picked;
  for (std::int64_t i : indices.values) {
    if (!geometry::is_index(i, count)) return;
    picked.push_back((*elements)[std::size_t(i < 0 ? i + count : i)]);
  }
  give_elements(c, 0, std::move(picked));
}

/// Checks the blocks of data that indices and, of ScatterND, updates are for; see geometry::blocks_of.
result<output_shape> gathered_blocks(const infer_context& c, std::int64_t batch_dims, shape_view updates) {
  const auto made = geometry::blocks_of(shape_of(c, 0), shape_of(c, 1), batch_dims, updates);
  if (!made) return made.error();
  return made->gathered;
}

}  // namespace

status gather(infer_context& c) {
  const auto made =
      geometry::gather_of<dim>(shape_of(c, 0), shape_of(c, 1), attributes_of<op::Gather>{c.attributes()}.axis);
  if (status s = give(c, 0, c.element(0), made); !s) return s;
  if (const std::optional<std::vector<std::int64_t>> indices = c.constant_ints(1); indices && made)
    if (status s = geometry::check_indices<dim>(*indices, made->size, made->axis); !s) return s;
  give_gathered_elements(c);
  return status_code::ok;
}

/// Each uint8 contains 8 / bits quantized values along the last axis.
status gather_block_quantized(infer_context& c) {
  const attributes_of<op::microsoft::GatherBlockQuantized> a{c.attributes()};
  output_shape data{shape_of(c, 0)};
  if (data.rank() > 0 && c.element(0) == dtype::u8) {
    const dim both[] = {data.back(), dim::fixed(8 / a.bits)};
    data.back() = data.back().known() ? geometry::product_of<dim>(both) : dim{};
  }
  return give(c, 0, c.element(2), geometry::gather_of<dim>(data.view(), shape_of(c, 1), a.gather_axis));
}

status gather_elements(infer_context& c) {
  const std::int64_t axis = attributes_of<op::GatherElements>{c.attributes()}.axis;
  if (status s = geometry::element_places_of(shape_of(c, 0), shape_of(c, 1), axis).error(); !s) return s;
  return give(c, 0, c.element(0), copy_of(c.shape(1)));
}

status gather_nd(infer_context& c) {
  return give(c, 0, c.element(0), gathered_blocks(c, attributes_of<op::GatherND>{c.attributes()}.batch_dims, {}));
}

status scatter_elements(infer_context& c) {
  const std::int64_t axis = attributes_of<op::ScatterElements>{c.attributes()}.axis;
  const auto made = geometry::element_places_of(shape_of(c, 0), shape_of(c, 1), axis, shape_of(c, 2));
  if (!made) return made.error();
  return give(c, 0, c.element(0), copy_of(c.shape(0)));
}

status scatter_nd(infer_context& c) {
  if (status s = refused(gathered_blocks(c, 0, shape_of(c, 2)).error()); !s) return s;
  return give(c, 0, c.element(0), copy_of(c.shape(0)));
}

status tensor_scatter(infer_context& c) {
  const std::int64_t axis = attributes_of<op::TensorScatter>{c.attributes()}.axis;
  if (status s = refused(geometry::tensor_scatter_of(shape_of(c, 0), shape_of(c, 1), axis).error()); !s) return s;
  return give_type_of(c, 0, 0);
}

status compress(infer_context& c) {
  const attributes_of<op::Compress> a{c.attributes()};
  const auto made = geometry::selection_of(shape_of(c, 0), a.axis ? &*a.axis : nullptr);
  if (!made) return made.error();
  return give(c, 0, c.element(0), copy_of(made->shape_of(c.fresh_symbol()).view()));
}

status unique(infer_context& c) {
  const attributes_of<op::Unique> a{c.attributes()};
  const auto made = geometry::selection_of(shape_of(c, 0), a.axis ? &*a.axis : nullptr);
  if (!made) return made.error();
  const dim count = c.fresh_symbol();
  give(c, 0, c.element(0), copy_of(made->shape_of(count).view()));
  give(c, 1, dtype::i64, dims{count});
  give(c, 2, dtype::i64, dims{made->size});
  return give(c, 3, dtype::i64, dims{count});
}

status non_zero(infer_context& c) {
  const dims* in = c.shape(0);
  // A scalar counts as a list with one element.
  const dim rank = in ? dim::fixed(std::int64_t(std::max<std::size_t>(in->size(), 1))) : dim{};
  return give(c, 0, dtype::i64, dims{rank, c.fresh_symbol()});
}

status one_hot(infer_context& c) {
  const std::optional<std::int64_t> depth = constant_int(c, 1);
  return give(c, 0, c.element(2),
              geometry::one_hot_of(shape_of(c, 0), attributes_of<op::OneHot>{c.attributes()}.axis,
                                   depth ? &*depth : nullptr, only_element(c, 1)));
}

status non_max_suppression(infer_context& c) { return give(c, 0, dtype::i64, dims{c.fresh_symbol(), dim::fixed(3)}); }

}  // namespace CAMEO_NAMESPACE::infer
